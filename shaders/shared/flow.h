// Interface between C++ and the shaders for the flow overlay.
#ifndef ECHOLUX_SHADERS_SHARED_FLOW_H
#define ECHOLUX_SHADERS_SHARED_FLOW_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

ECHOLUX_CONST flow_off = 0;
ECHOLUX_CONST flow_scalar = 1;  // a velocity
ECHOLUX_CONST flow_phasor = 2;  // (cos, sin) of a phase, with the confidence as magnitude

ECHOLUX_CONST flow_colour_entries = 513;  // odd, so that zero flow has its own entry

struct FlowFrame {
    float velocity_scale, velocity_offset;  // from texture value to velocity
    float velocity_per_radian;              // of phase
    float padding_1;
    float threshold;
    float per_fade;   // 1 / width of the fade-in above the threshold
    float per_range;  // 1 / range of the colours
    float opacity;
    float density;   // optical depth of opaque flow in bits per length
    float is_under;  // 1: under the structure
    vec2 padding_2;
    vec4 bricks;  // texture coordinates to bricks of the flow, which may differ in size from the structure's
};

ECHOLUX_LAYOUT(FlowFrame, 16 * 4)
ECHOLUX_SHARED_END

#endif
