// What the ray caster has to know of light.
#ifndef ECHOLUX_SHADERS_SHARED_LIGHT_H
#define ECHOLUX_SHADERS_SHARED_LIGHT_H

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec4 = glm::vec4;
#endif

struct LightFrame {
    vec4 shading;  // strength, gradient (texture value per smallest voxel edge) at which it is half there; strength of
                   // ambient occlusion, of shadows
    vec4 lamp;     // direction towards the free lamp, in lengths; 1: there is one, 0: the lamp is at the eye
    vec4 cell;     // of the light volume: a cell's length in texture coordinates, and itself
    vec4 steps;    // of a cell towards what is around, towards the lamp
};

#ifdef __cplusplus
static_assert(sizeof(LightFrame) == 16 * 4, "the layout of std140");
}  // namespace echolux::shared
#endif

#endif
