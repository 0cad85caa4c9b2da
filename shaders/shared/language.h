// Spelling of the headers in this folder in C++ and in GLSL, which has no namespaces and no assertions.
#ifndef ECHOLUX_SHADERS_SHARED_LANGUAGE_H
#define ECHOLUX_SHADERS_SHARED_LANGUAGE_H

#ifdef __cplusplus
#include <glm/glm.hpp>
namespace echolux::shared {
using namespace glm;
}  // namespace echolux::shared
#define ECHOLUX_SHARED_BEGIN namespace echolux::shared {
#define ECHOLUX_SHARED_END }
#define ECHOLUX_CONST inline constexpr int
#define ECHOLUX_INLINE inline
// Checks the size of a block, in bytes, against the layout of the uniform (std140) or storage buffer (std430).
#define ECHOLUX_LAYOUT(block, bytes) static_assert(sizeof(block) == (bytes), "the layout of std140 or std430");
#else
#define ECHOLUX_SHARED_BEGIN
#define ECHOLUX_SHARED_END
#define ECHOLUX_CONST const int
#define ECHOLUX_INLINE
#define ECHOLUX_LAYOUT(block, bytes)
#endif

#endif
