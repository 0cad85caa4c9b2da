// What the ray caster has to know of the flow that lies over the structure.
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
ECHOLUX_CONST flow_phasor = 2;  // (cos, sin) of a phase, shorter where it is doubtful

ECHOLUX_CONST flow_colour_entries = 513;  // odd: no flow has an entry of its own

struct FlowFrame {
    vec4 values;   // to velocity: scale and offset of texture values, factor of a phase in radians
    vec4 look;     // threshold, 1 / speeds from there until it is seen in full, 1 / range, opacity
    vec4 density;  // of flow that is seen in full: optical depth in bits per length; 1: it lies under the structure
    vec4 bricks;   // texture coordinates to bricks of the flow, which may be of another size than the structure's
};

#ifdef __cplusplus
static_assert(sizeof(FlowFrame) == 16 * 4, "the layout of std140");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
