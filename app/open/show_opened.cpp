#include "app/open/show_opened.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>

#include "app/open/height_maps.h"
#include "app/open/scan_poses.h"
#include "engine/io/volume_file.h"
#include "engine/layers/layers.h"
#include "render/camera.h"

namespace echolux {
namespace {

// Warns if the isosurface is beyond all values: the picture would be empty without a hint why.
void warn_of_no_surface(OpenedVolume& opened, const View& view) {
    const VolumeGrid& grid = opened.volume.grid;
    const bool is_chosen = view.show == Shown::volume && mode_while_cast(view) == ViewMode::isosurface &&
                           view.flow_shown == FlowShown::overlay && view.isovalue != lowest_value;
    if (!is_chosen || grid.type == VoxelType::f16) return;
    const auto [min, max] = min_and_max(opened.volume);
    const double greatest = std::max(min * grid.scale, max * grid.scale) + grid.offset;
    if (view.isovalue <= greatest) return;
    opened.warnings.push_back(fmt::format(
        "no surface is seen: view.isovalue is {:g}, the greatest value of the volume {:g}", view.isovalue, greatest));
}

// Warns if the slice plane is outside the volume.
void warn_of_plane_outside(OpenedVolume& opened, const View& view) {
    if (view.show != Shown::slice) return;
    const glm::dvec3 extent = volume_extent(opened.volume.grid);
    glm::dvec3 normal(view.plane == SlicePlane::en_face, view.plane == SlicePlane::side,
                      view.plane == SlicePlane::b_scan);
    if (view.plane == SlicePlane::oblique)
        normal = glm::normalize(glm::dvec3(view.plane_normal[0], view.plane_normal[1], view.plane_normal[2]));
    const double reach = 0.5 * glm::dot(glm::abs(normal), extent);
    if (std::abs(view.plane_offset_um) <= reach + 0.5 * view.slab_um) return;
    opened.warnings.push_back(
        fmt::format("nothing is seen: view.plane_offset_um is {:g}, and the volume reaches from {:.4g} to {:.4g}",
                    view.plane_offset_um, -reach, reach));
}

// Warns if nothing is between the chosen depths.
void warn_of_empty_slab(OpenedVolume& opened, const View& view) {
    if (!view.heights_cut || view.show == Shown::slice) return;
    const VolumeGrid& grid = opened.volume.grid;
    const DepthScale scale(grid);
    const double first = scale.depth(-0.5F), last = scale.depth(static_cast<float>(grid.depth) - 0.5F);
    const bool is_above = view.bottom_from.empty() && view.bottom_um <= first;
    const bool is_below = view.top_from.empty() && view.top_um >= last;
    if (is_above || is_below) {
        opened.warnings.push_back(fmt::format(
            "nothing is seen: {} is {:g}, and the volume reaches from {:.4g} to {:.4g} um below zero delay",
            is_above ? "view.bottom_um" : "view.top_um", is_above ? view.bottom_um : view.top_um, first, last));
    } else if (view.top_from == view.bottom_from && view.top_um >= view.bottom_um) {
        opened.warnings.push_back(fmt::format("nothing is seen: view.top_um is {:g}, and view.bottom_um only {:g}",
                                              view.top_um, view.bottom_um));
    }
}

}  // namespace

void show_opened(Renderer& renderer, OpenedVolume& opened, const std::optional<Volume>& flow, const View& view,
                 Progress& progress) {
    const HeightMaps heights = prepared_heights(view, opened.volume);
    const VolumeGrid& grid = opened.volume.grid;
    warn_of_no_surface(opened, view);
    warn_of_plane_outside(opened, view);
    warn_of_empty_slab(opened, view);
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
