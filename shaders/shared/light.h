// What the ray caster has to know of light.
#ifndef ECHOLUX_SHADERS_SHARED_LIGHT_H
#define ECHOLUX_SHADERS_SHARED_LIGHT_H

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec4 = glm::vec4;
#endif

struct LightFrame {
    vec4 shading;  // strength, gradient (texture value per smallest voxel edge) at which it is half there
};

#ifdef __cplusplus
static_assert(sizeof(LightFrame) == 16 * 1, "the layout of std140");
}  // namespace echolux::shared
#endif

#endif
