// What the ray caster has to know of single modes.
#ifndef ECHOLUX_SHADERS_SHARED_MODES_H
#define ECHOLUX_SHADERS_SHARED_MODES_H

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec4 = glm::vec4;
#endif

struct ModesFrame {
    vec4 facts;  // bits of light lost per length at level 1 in an attenuated maximum; MIDA's balance; radius of a point
                 // in voxels
};

#ifdef __cplusplus
static_assert(sizeof(ModesFrame) == 16 * 1, "the layout of std140");
}  // namespace echolux::shared
#endif

#endif
