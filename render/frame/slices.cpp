// Uniforms of planes inside the volume for the ray caster.
#include <algorithm>

#include "render/camera.h"
#include "render/frame/parts.h"
#include "render/view/planes.h"

namespace echolux {

shared::SlicesFrame slices_frame(const Shot& shot) {
    const View& view = shot.view;
    const glm::dvec3 extent = volume_extent(shot.scene.grid());
    const std::vector<Plane> planes = planes_of(view.slices);
    shared::SlicesFrame frame{};
    std::ranges::fill(frame.plane, nowhere);
    frame.facts = glm::vec4(
        glm::dvec4(planes.size(), view.slice_colours == SliceColours::curve ? 1 : 0, view.slices_cut ? 1 : 0, 0));
    for (std::size_t i = 0; i < planes.size(); ++i) frame.plane[i] = glm::vec4(planes[i].in_texture(extent));
    return frame;
}

}  // namespace echolux
