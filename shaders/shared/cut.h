// Interface between C++ and the shaders for clipping.
#ifndef ECHOLUX_SHADERS_SHARED_CUT_H
#define ECHOLUX_SHADERS_SHARED_CUT_H

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
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
    vec4 facts;            // x: number of planes, the others clip nothing; y: depth of the unshaded zone below cut
                           // faces
    vec4 plane[max_cuts];  // in texture coordinates: dot(xyz, at) - w > 0 is clipped by that length
    vec4 heights;          // xy: added to the depth coordinates of top and bottom; z: texture coordinates per um
};

#ifdef __cplusplus
static_assert(sizeof(CutFrame) == 16 * (2 + max_cuts), "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
