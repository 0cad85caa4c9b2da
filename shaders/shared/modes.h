// Interface between C++ and the shaders for single view modes.
#ifndef ECHOLUX_SHADERS_SHARED_MODES_H
#define ECHOLUX_SHADERS_SHARED_MODES_H

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec4 = glm::vec4;
#endif

struct ModesFrame {
    vec4 facts;  // x: attenuated max: bits per length at level 1; y: balance of MIDA; z: radius of points in voxels
};

#ifdef __cplusplus
static_assert(sizeof(ModesFrame) == 16 * 1, "the layout of std140");
}  // namespace echolux::shared
#endif

#endif
