// Interface between C++ and the shaders for passes: the picture is the mean of several jittered passes, or a single
// one.
#ifndef ECHOLUX_SHADERS_SHARED_PASS_H
#define ECHOLUX_SHADERS_SHARED_PASS_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

ECHOLUX_CONST noise_edge_bits = 6;
ECHOLUX_CONST noise_edge = 1 << noise_edge_bits;  // edge of the blue noise in pixels

struct PassFrame {
    vec2 spot;        // position of the ray in its cell, 0 to 1
    float cell_edge;  // in pixels
    float padding_1;
    float weight;        // of this pass in the mean
    float noise_offset;  // modulo 1
    vec2 padding_2;
};

ECHOLUX_LAYOUT(PassFrame, 16 * 2)
ECHOLUX_SHARED_END

#endif
