// What the ray caster has to know of the flow that lies over the structure.
#ifndef ECHOLUX_SHADERS_SHARED_FLOW_H
#define ECHOLUX_SHADERS_SHARED_FLOW_H

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec4 = glm::vec4;
#endif

struct FlowFrame {
    vec4 values;  // texture value to value: scale, offset
};

#ifdef __cplusplus
static_assert(sizeof(FlowFrame) == 16 * 1, "the layout of std140");
}  // namespace echolux::shared
#endif

#endif
