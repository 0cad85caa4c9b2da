// What the ray caster has to know of a pass: one of several jittered ones whose mean is the picture, or the only one.
#ifndef ECHOLUX_SHADERS_SHARED_PASS_H
#define ECHOLUX_SHADERS_SHARED_PASS_H

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec4 = glm::vec4;
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

ECHOLUX_CONST noise_edge_bits = 6;
ECHOLUX_CONST noise_edge = 1 << noise_edge_bits;  // pixels of the blue noise

struct PassFrame {
    vec4 spot;   // x, y: where in its cell of the picture a ray goes through, 0 to 1; edge of the cell in pixels
    vec4 share;  // of this pass in the mean; what is added to the noise, modulo 1
};

#ifdef __cplusplus
static_assert(sizeof(PassFrame) == 16 * 2, "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
