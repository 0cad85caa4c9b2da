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
    vec4 lamp;     // direction towards the free lamp, in lengths; 1: there is one, 0: the lamp is at the eye
};

#ifdef __cplusplus
static_assert(sizeof(LightFrame) == 16 * 2, "the layout of std140");
}  // namespace echolux::shared
#endif

#endif
