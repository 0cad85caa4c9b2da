// Interface between C++ and the shaders for planes inside the volume and for sections.
#ifndef ECHOLUX_SHADERS_SHARED_SLICES_H
#define ECHOLUX_SHADERS_SHARED_SLICES_H

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec4 = glm::vec4;
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

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

#ifdef __cplusplus
static_assert(sizeof(SlicesFrame) == 16 * (1 + max_slices), "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
