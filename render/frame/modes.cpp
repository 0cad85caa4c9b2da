// Single modes, as the ray caster has to know them.
#include <algorithm>
#include <cmath>

#include "render/camera.h"
#include "render/frame/parts.h"

namespace echolux {

shared::ModesFrame modes_frame(const Shot& shot) {
    const View& view = shot.view;
    const VolumeGrid& grid = shot.scene.volume.grid();
    const double bits = view.attenuation * std::log2(std::exp(1.0)) / volume_extent(grid).x;
    const double radius = 0.5 * view.point_size * std::ranges::min(voxel_edges(grid));
    return {.facts = glm::vec4(glm::dvec4(bits, view.mida_balance, radius, 0))};
}

}  // namespace echolux
