// What the ray caster has to know of planes inside the volume.
#ifndef ECHOLUX_SHADERS_SHARED_SLICES_H
#define ECHOLUX_SHADERS_SHARED_SLICES_H

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec4 = glm::vec4;
#endif

struct SlicesFrame {
    vec4 plane[4];
};

#ifdef __cplusplus
static_assert(sizeof(SlicesFrame) == 16 * 4, "the layout of std140");
}  // namespace echolux::shared
#endif

#endif
