// What the ray caster has to know of a volume that lies in a pool of pages: see render/slots/page_layout.h.
#ifndef ECHOLUX_SHADERS_SHARED_PAGES_H
#define ECHOLUX_SHADERS_SHARED_PAGES_H

#ifdef __cplusplus
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec4 = glm::vec4;
#endif

struct PagesFrame {
    vec4 voxels;    // of the whole volume; then coarse voxels to one of its voxels, along an axis
    vec4 page;      // voxels of a page without its border; then the border
    vec4 per_page;  // 1 / page
    vec4 stored;    // voxels of a slot of the pool
    vec4 per_pool;  // 1 / voxels of the pool
};

#ifdef __cplusplus
static_assert(sizeof(PagesFrame) == 16 * 5, "the layout of std140");
}  // namespace echolux::shared
#endif

#endif
