// What the ray caster has to know of what is cut away.
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
ECHOLUX_CONST heights_anywhere = 1;    // each sample is looked at
ECHOLUX_CONST heights_along_rays = 2;  // rays run along the depth: they begin and end at the heights

ECHOLUX_CONST max_cuts = 14;  // the faces of the box, six free planes, a slab

struct CutFrame {
    vec4 facts;            // number of cuts, those behind cut nothing; how deep below a cut face it is not shaded
    vec4 plane[max_cuts];  // in texture coordinates: dot(xyz, at) - w is the length by which a place is cut away
    vec4 heights;          // added to the top's and the bottom's texture coordinates along the depth; those per um
};

#ifdef __cplusplus
static_assert(sizeof(CutFrame) == 16 * (2 + max_cuts), "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
