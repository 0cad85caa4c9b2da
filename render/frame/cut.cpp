// Uniforms of the clipping for the ray caster: a list of half spaces.
#include <algorithm>

#include "render/camera.h"
#include "render/frame/parts.h"
#include "render/heights.h"
#include "render/view/planes.h"

namespace echolux {
namespace {

// Cut faces are unshaded down to this depth, in smallest voxel edges. Shading then fades in over the same depth again.
constexpr double plain_depth = 1.5;

// Adds the faces of the clip box and the constant depth limits that clip anything.
void add_box(std::vector<Plane>& cuts, const View& view, const VolumeGrid& grid, const glm::dvec3& extent) {
    for (int axis = 0; axis < 3; ++axis) {
        double low = view.clip_low[static_cast<std::size_t>(axis)];
        double high = view.clip_high[static_cast<std::size_t>(axis)];
        if (axis == 0 && view.top_from.empty()) low = std::max(low, depth_in_texture(grid, view.top_um));
        if (axis == 0 && view.bottom_from.empty()) high = std::min(high, depth_in_texture(grid, view.bottom_um));
        glm::dvec3 normal(0);
        normal[axis] = 1;
        if (low > 0) cuts.push_back({-normal, (0.5 - low) * extent[axis]});
        if (high < 1) cuts.push_back({normal, (high - 0.5) * extent[axis]});
    }
}

}  // namespace

shared::CutFrame cut_frame(const Shot& shot) {
    const VolumeGrid& grid = shot.scene.grid();
    const glm::dvec3 extent = volume_extent(grid);
    std::vector<Plane> cuts = planes_of(shot.view.clip_planes);
    add_box(cuts, shot.view, grid, extent);
    const double smallest = std::ranges::min(voxel_edges(grid));
    shared::CutFrame frame{};
    std::ranges::fill(frame.plane, nowhere);
    frame.facts = glm::vec4(glm::dvec4(cuts.size(), plain_depth * smallest, 0, 0));
    for (std::size_t i = 0; i < cuts.size(); ++i) frame.plane[i] = glm::vec4(cuts[i].in_texture(extent));
    frame.heights = glm::vec4(glm::dvec4(depth_in_texture(grid, top_added_um(shot.view)),
                                         depth_in_texture(grid, bottom_added_um(shot.view)), texture_per_um(grid), 0));
    return frame;
}

}  // namespace echolux
