#include "render/scan_geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <glm/common.hpp>
#include <glm/geometric.hpp>
#include <glm/vec2.hpp>

#include "compute/error.h"
#include "compute/plural.h"
#include "render/camera.h"
#include "shaders/shared/planes.h"

namespace echolux {

double texture_per_um(const VolumeGrid& grid) {
    return 1 / (voxel_edges(grid)[0] * static_cast<double>(grid.depth));
}

double depth_in_texture(const VolumeGrid& grid, double depth_um) {
    const double first = grid.spacing_um[0] > 0 ? grid.first_depth_um : 0;
    return (depth_um - first) * texture_per_um(grid) + 0.5 / static_cast<double>(grid.depth);
}

double top_added_um(const Cut& cut) {
    return !cut.top_from.empty() && cut.top_um == above_all_um ? 0 : cut.top_um;
}

double bottom_added_um(const Cut& cut) {
    return !cut.bottom_from.empty() && cut.bottom_um == below_all_um ? 0 : cut.bottom_um;
}

bool has_height_maps(const Cut& cut) {
    return !cut.top_from.empty() || !cut.bottom_from.empty();
}

void check_heights(const HeightMaps& maps) {
    for (const std::vector<float>& map : {maps.top_um, maps.bottom_um}) {
        if (map.empty() || std::ssize(map) == maps.a_scans * maps.b_scans) continue;
        throw Error(
            ErrorCode::bad_setting,
            fmt::format("{} given for {} x {} A-scans", plural(map.size(), "heights"), maps.a_scans, maps.b_scans),
            "height map");
    }
}

// ---- Scan planes

namespace {

constexpr double um_per_mm = 1000;

// Requires one pose per B-scan and no more planes than the shader supports.
void check_poses(const std::vector<BScanPose>& poses, const VolumeGrid& volume) {
    const auto count = std::ssize(poses);
    if (count == volume.b_scans && count <= shared::max_planes) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("{} for {} in space, at most {} are possible", plural(count, "poses"),
                            plural(volume.b_scans, "B-scans"), shared::max_planes),
                "scan planes", "use one for each B-scan, or show them as a volume");
}

// Bounding rectangle of the ends of all planes, extended by half an A-scan.
struct Outline {
    glm::dvec2 low{1e300}, high{-1e300};
    double a_scan_mm = 0;  // largest distance between A-scans

    void add(const BScanPose& pose, std::int64_t a_scans) {
        const glm::dvec2 first(pose.first_x_mm, pose.first_y_mm), last(pose.last_x_mm, pose.last_y_mm);
        low = glm::min(low, glm::min(first, last));
        high = glm::max(high, glm::max(first, last));
        a_scan_mm = std::max(a_scan_mm,
                             glm::length(last - first) / static_cast<double>(std::max<std::int64_t>(a_scans - 1, 1)));
    }
};

}  // namespace

ScanField scan_field(const std::vector<BScanPose>& poses, const VolumeGrid& volume) {
    check_poses(poses, volume);
    Outline outline;
    for (const BScanPose& pose : poses) outline.add(pose, volume.a_scans);
    const double a_scan = outline.a_scan_mm > 0 ? outline.a_scan_mm : 1;
    const glm::dvec2 corner = outline.low - 0.5 * a_scan;
    const glm::dvec2 extent = outline.high - outline.low + a_scan;
    ScanField field{volume, {}};
    field.grid.a_scans = field.grid.b_scans = 1;
    field.grid.spacing_um[1] = um_per_mm * extent.x;
    field.grid.spacing_um[2] = um_per_mm * extent.y;
    if (!(field.grid.spacing_um[0] > 0)) field.grid.spacing_um[0] = um_per_mm * a_scan;
    for (const BScanPose& pose : poses) {
        const glm::dvec2 first(pose.first_x_mm, pose.first_y_mm), last(pose.last_x_mm, pose.last_y_mm);
        field.planes.emplace_back((first - corner) / extent, (last - first) / extent);
    }
    return field;
}

View plane_view(View view) {
    if (view.show != ViewContent::volume) {
        throw Error(ErrorCode::bad_setting, "B-scans that are separate planes have no sections", "view.show",
                    "set view.show = volume");
    }
    view.lighting = false;
    view.ambient_occlusion = view.shadows = 0;
    view.slices.clear();
    if (view.slice_colours == SliceColours::gray) view.colour_map = "gray";  // also for the colour bar
    return view;
}

}  // namespace echolux
