// Interface between C++ and the shaders for planes inside the volume and for sections.
#ifndef ECHOLUX_SHADERS_SHARED_SLICES_H
#define ECHOLUX_SHADERS_SHARED_SLICES_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

ECHOLUX_CONST slices_off = 0;
ECHOLUX_CONST slices_inside = 1;   // planes inside the volume
ECHOLUX_CONST slices_section = 2;  // the picture is a section

ECHOLUX_CONST max_slices = 4;

struct SlicesFrame {
    float plane_count;  // the other planes are never hit
    float colours;      // 0: gray, 1: colours of the curve
    float is_clipped;   // 1: clipped like the volume
    float padding;
    vec4 plane[max_slices];  // in texture coordinates: dot(xyz, at) - w is the distance from the plane
};

ECHOLUX_LAYOUT(SlicesFrame, 16 * (1 + max_slices))
ECHOLUX_SHARED_END

#endif
