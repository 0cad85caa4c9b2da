// Interface between C++ and the shaders for clipping.
#ifndef ECHOLUX_SHADERS_SHARED_CUT_H
#define ECHOLUX_SHADERS_SHARED_CUT_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

ECHOLUX_CONST heights_off = 0;
ECHOLUX_CONST heights_anywhere = 1;    // each sample is tested
ECHOLUX_CONST heights_along_rays = 2;  // rays run along depth, so the limits clip the rays

ECHOLUX_CONST max_cuts = 14;  // faces of the box, six free planes, a slab

struct CutFrame {
    float plane_count;  // the other planes clip nothing
    float plain_depth;  // depth of the unshaded zone below cut faces
    vec2 padding_1;
    vec4 plane[max_cuts];  // in texture coordinates: dot(xyz, at) - w > 0 is clipped by that length
    vec2 heights_added;    // to the depth coordinates of top and bottom
    float depth_per_um;    // texture coordinates per um
    float padding_2;
};

ECHOLUX_LAYOUT(CutFrame, 16 * (2 + max_cuts))
ECHOLUX_SHARED_END

#endif
