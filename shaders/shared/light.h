// Interface between C++ and the shaders for lighting.
#ifndef ECHOLUX_SHADERS_SHARED_LIGHT_H
#define ECHOLUX_SHADERS_SHARED_LIGHT_H

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec4 = glm::vec4;
#endif

struct LightFrame {
    vec4 shading;  // x: strength; y: gradient (texture values per smallest voxel edge) at half strength; z: ambient
                   // occlusion; w: shadows
    vec4 lamp;     // xyz: unit vector towards the free lamp, in lengths; w: 1: free lamp, 0: headlight
    vec4 cell;     // cells of the light volume: xyz: size in texture coordinates; w: mean edge length
    vec4 steps;    // x: number of ambient steps; y: number of steps towards the lamp
};

#ifdef __cplusplus
static_assert(sizeof(LightFrame) == 16 * 4, "the layout of std140");
}  // namespace echolux::shared
#endif

#endif
