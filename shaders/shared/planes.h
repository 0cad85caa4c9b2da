// Interface between C++ and the shaders for separate B-scan planes.
#ifndef ECHOLUX_SHADERS_SHARED_PLANES_H
#define ECHOLUX_SHADERS_SHARED_PLANES_H

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

ECHOLUX_CONST max_planes = 4;

struct PlanesFrame {
    float plane_count;
    float opacity;
    vec2 grid;  // A-scans and B-scans of the volume that holds the planes
    // Lateral, in texture coordinates of the field: xy: first A-scan; zw: vector from it to the last.
    vec4 plane[max_planes];
};

#ifdef __cplusplus
static_assert(sizeof(PlanesFrame) == 16 * (1 + max_planes), "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
