// Interface between C++ and the shaders for the flow overlay.
#ifndef ECHOLUX_SHADERS_SHARED_FLOW_H
#define ECHOLUX_SHADERS_SHARED_FLOW_H

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec4 = glm::vec4;
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

ECHOLUX_CONST flow_off = 0;
ECHOLUX_CONST flow_scalar = 1;  // a velocity
ECHOLUX_CONST flow_phasor = 2;  // (cos, sin) of a phase, with the confidence as magnitude

ECHOLUX_CONST flow_colour_entries = 513;  // odd, so that zero flow has its own entry

struct FlowFrame {
    vec4 values;   // x, y: scale and offset from texture value to velocity; z: velocity per radian of phase
    vec4 look;     // x: threshold; y: 1 / width of the fade-in above it; z: 1 / range; w: opacity
    vec4 density;  // x: optical depth of opaque flow in bits per length; y: 1: under the structure
    vec4 bricks;   // texture coordinates to bricks of the flow, which may differ in size from the structure's
};

#ifdef __cplusplus
static_assert(sizeof(FlowFrame) == 16 * 4, "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
