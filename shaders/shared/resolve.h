// Interface between C++ and resolve.comp.
#ifndef ECHOLUX_SHADERS_SHARED_RESOLVE_H
#define ECHOLUX_SHADERS_SHARED_RESOLVE_H

#include "shaders/shared/trace.h"

#ifdef __cplusplus
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec2 = glm::vec2;
using vec3 = glm::vec3;
using vec4 = glm::vec4;
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

ECHOLUX_CONST resolve_group = 8;

ECHOLUX_CONST binding_resolve_accumulation = 0;
ECHOLUX_CONST binding_resolve_picture = 1;
ECHOLUX_CONST binding_resolve_drawn = 2;  // of paths, see PathFeatures

// Parameters for displaying traced light.
struct ToningFrame {
    ToneFrame tone;
    vec4 background;   // RGB; opacity, 0 or 1
    vec2 first_ray;    // position of the picture's first ray in the buffer: left, top
    float rows_above;  // picture rows above it
    float padding;
    vec3 lower_background;  // background colour at the lower edge
    float per_height;       // 1 / height of the whole picture
};

struct ResolvePart {
    float rays_per_pixel;
    float columns, rows;  // number of rays: the buffer may be larger
    float share;          // weight of the second picture
    ToningFrame toning;
};

#ifdef __cplusplus
static_assert(sizeof(ResolvePart) == 16 * 5, "the layout of std430");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
