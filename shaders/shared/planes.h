// What the ray caster has to know of B-scans that are planes in space.
#ifndef ECHOLUX_SHADERS_SHARED_PLANES_H
#define ECHOLUX_SHADERS_SHARED_PLANES_H

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec4 = glm::vec4;
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

ECHOLUX_CONST max_planes = 4;

struct PlanesFrame {
    vec4 facts;              // number of planes, their opacity; A-scans, B-scans of the volume that holds them
    vec4 plane[max_planes];  // across the field, in its texture coordinates: the first A-scan, from there to the last
};

#ifdef __cplusplus
static_assert(sizeof(PlanesFrame) == 16 * (1 + max_planes), "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
