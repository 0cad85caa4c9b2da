#include "render/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>

#include "compute/error.h"
#include "render/camera.h"

namespace echolux {
namespace {

constexpr double finest_step = 0.05;  // in voxels

std::array<double, 3> numbers(const glm::dvec3& v) {
    return {v.x, v.y, v.z};
}

// Integer textures return codes divided by the largest code. Rounds to the exact value of the voxel.
double exact(double value, const VolumeGrid& grid) {
    const bool is_real = grid.type == VoxelType::f32 || grid.type == VoxelType::f16;
    return is_real ? value : std::round((value - grid.offset) / grid.scale) * grid.scale + grid.offset;
}

// Normals point towards lower values, out of bright tissue.
glm::dvec3 normal_of(const RayMeasure& measure) {
    const glm::dvec3 slope(measure.gradient[0], measure.gradient[1], measure.gradient[2]);
    const double steepness = glm::length(slope);
    return steepness > 0 ? -slope / steepness : glm::dvec3(0);
}

}  // namespace

View view_for_probe(View view) {
    view.step = finest_step;
    view.adaptive = false;
    return view;
}

void check_pixel(const View& view, std::int64_t x, std::int64_t y) {
    if (x >= 0 && x < view.width && y >= 0 && y < view.height) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("the pixel {}, {} is outside the image of {} x {} pixels", x, y, view.width, view.height),
                "probe", "pixels are counted from 0 at the top left");
}

std::optional<Probe> probe_of(const RayMeasure& measure, const View& view, const VolumeGrid& grid, std::int64_t x,
                              std::int64_t y) {
    if (measure.distance < 0 || measure.transmittance >= 1) return std::nullopt;
    const auto [depth, a_scan, b_scan] = voxel_edges(grid);
    const glm::dvec3 edges(depth, a_scan, b_scan);
    const glm::dvec3 extent = volume_extent(grid);
    const glm::dvec2 pixel =
        glm::dvec2(x, y) + 0.5 - 0.5 * glm::dvec2(static_cast<double>(view.width), static_cast<double>(view.height));
    const auto [start, unit] = Camera(view, extent).ray_at(pixel);
    const glm::dvec3 place = start + double{measure.distance} * unit + 0.5 * extent - 0.5 * edges;
    Probe probe;
    probe.value = exact(measure.voxel_value, grid);
    probe.unit = grid.unit;
    for (std::size_t i = 0; i < 3; ++i) probe.voxel[i] = std::llround(measure.voxel[i]);
    probe.index = numbers(place / edges);
    probe.place_um = numbers(place);
    probe.has_spacing = std::ranges::any_of(grid.spacing_um, [](double spacing) { return spacing > 0; });
    probe.normal = numbers(normal_of(measure));
    probe.distance_um = measure.distance;
    return probe;
}

}  // namespace echolux
