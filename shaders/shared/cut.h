// Interface between C++ and the shaders for clipping.
#ifndef ECHOLUX_SHADERS_SHARED_CUT_H
#define ECHOLUX_SHADERS_SHARED_CUT_H

#ifdef __cplusplus
#include <glm/vec2.hpp>
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec2 = glm::vec2;
using vec4 = glm::vec4;
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

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

#ifdef __cplusplus
static_assert(sizeof(CutFrame) == 16 * (2 + max_cuts), "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
