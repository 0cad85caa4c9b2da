// Interface between C++ and the shaders for passes: the picture is the mean of several jittered passes, or a single
// one.
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
ECHOLUX_CONST noise_edge = 1 << noise_edge_bits;  // edge of the blue noise in pixels

struct PassFrame {
    vec4 spot;   // x, y: position of the ray in its cell, 0 to 1; z: edge of the cell in pixels
    vec4 share;  // x: weight of this pass in the mean; y: offset of the noise, modulo 1
};

#ifdef __cplusplus
static_assert(sizeof(PassFrame) == 16 * 2, "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
