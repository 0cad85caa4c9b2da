// Uniforms of separate B-scan planes in space for the ray caster.
#include "render/frame/parts.h"

namespace echolux {

shared::PlanesFrame planes_frame(const Shot& shot) {
    shared::PlanesFrame frame{};
    if (shot.scene.field == nullptr) return frame;
    const VolumeGrid& grid = shot.scene.volume.grid();
    const std::vector<glm::dvec4>& planes = shot.scene.field->planes;
    frame.facts = glm::vec4(glm::dvec4(planes.size(), shot.view.planes_opacity, grid.a_scans, grid.b_scans));
    for (std::size_t i = 0; i < planes.size(); ++i) frame.plane[i] = glm::vec4(planes[i]);
    return frame;
}

}  // namespace echolux
