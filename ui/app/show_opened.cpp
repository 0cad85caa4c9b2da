#include "ui/app/show_opened.h"

#include "ui/app/height_maps.h"
#include "ui/app/scan_poses.h"

namespace echolux {

void show_opened(Renderer& renderer, OpenedVolume& opened, const std::optional<Volume>& flow, const View& view,
                 Progress& progress) {
    const HeightMaps heights = prepared_heights(view, opened.volume);
    const VolumeGrid& grid = opened.volume.grid;
    renderer.set_poses(poses_of(opened.geometry, grid.b_scans));
    progress.begin("upload", grid.voxels(), "voxels");
    renderer.set_volume(voxels_in_memory(grid, opened.volume.voxels.data()),
                        [&](std::int64_t voxels) { progress.advance(voxels); });
    progress.end();
    renderer.set_heights(heights);
    const std::optional<Volume>& shown_flow = flow ? flow : opened.flow;
    if (shown_flow && view.flatten.empty()) renderer.set_flow(shown_flow->grid, shown_flow->voxels.data());
}

}  // namespace echolux
