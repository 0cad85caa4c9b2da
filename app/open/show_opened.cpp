#include "app/open/show_opened.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/open/height_maps.h"
#include "app/open/scan_poses.h"
#include "engine/io/voxel_value.h"

namespace echolux {
namespace {

// A surface that is nowhere makes an empty picture, which does not tell why.
void warn_of_no_surface(OpenedVolume& opened, const View& view) {
    const VolumeGrid& grid = opened.volume.grid;
    const bool is_chosen = view.show == Shown::volume && view.mode == ViewMode::isosurface &&
                           view.flow_shown == FlowShown::overlay && view.isovalue != lowest_value;
    if (!is_chosen || grid.type == VoxelType::f16) return;
    const auto [min, max] = min_and_max(opened.volume);
    const double greatest = std::max(min * grid.scale, max * grid.scale) + grid.offset;
    if (view.isovalue <= greatest) return;
    opened.warnings.push_back(fmt::format(
        "no surface is seen: view.isovalue is {:g}, the greatest value of the volume {:g}", view.isovalue, greatest));
}

}  // namespace

void show_opened(Renderer& renderer, OpenedVolume& opened, const std::optional<Volume>& flow, const View& view,
                 Progress& progress) {
    const HeightMaps heights = prepared_heights(view, opened.volume);
    const VolumeGrid& grid = opened.volume.grid;
    warn_of_no_surface(opened, view);
    renderer.set_poses(poses_of(opened.geometry, grid.b_scans));
    progress.begin("upload", grid.voxels(), "voxels");
    renderer.show(renderer.prepare(voxels_in_memory(grid, opened.volume.voxels.data()), opened.chosen,
                                   [&](std::int64_t voxels) { progress.advance(voxels); }));
    progress.end();
    renderer.set_heights(heights);
    const std::optional<Volume>& shown_flow = flow ? flow : opened.flow;
    if (shown_flow && view.flatten.empty()) renderer.set_flow(shown_flow->grid, shown_flow->voxels.data());
}

}  // namespace echolux
