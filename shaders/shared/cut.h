// What the ray caster has to know of what is cut away.
#ifndef ECHOLUX_SHADERS_SHARED_CUT_H
#define ECHOLUX_SHADERS_SHARED_CUT_H

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec4 = glm::vec4;
#endif

struct CutFrame {
    vec4 low, high;  // the clip box in texture coordinates
};

#ifdef __cplusplus
static_assert(sizeof(CutFrame) == 16 * 2, "the layout of std140");
}  // namespace echolux::shared
#endif

#endif
