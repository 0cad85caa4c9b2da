// Uniforms of paged volumes for the ray caster.
#include "render/frame/parts.h"

namespace echolux {
namespace {

glm::vec4 packed(const Indices& lengths, double w = 0) {
    return glm::vec4(glm::dvec4(lengths[0], lengths[1], lengths[2], w));
}

}  // namespace

shared::PagesFrame pages_frame(const Shot& shot) {
    if (shot.scene.pages == nullptr) return {};
    const PageLayout& layout = shot.scene.pages->layout();
    const Indices stored = layout.stored();
    const auto pool = [&](std::size_t axis) { return layout.slots[axis] * stored[axis]; };
    return {.voxels = packed(layout.voxels, 1 / static_cast<double>(layout.reduction)),
            .page = packed(layout.page, page_border),
            .per_page = 1.0F / packed(layout.page, 1),
            .stored = packed(stored),
            .per_pool = 1.0F / packed({pool(0), pool(1), pool(2)}, 1)};
}

}  // namespace echolux
