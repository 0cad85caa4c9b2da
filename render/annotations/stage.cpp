#include "render/annotations/stage.h"

#include <algorithm>
#include <glm/geometric.hpp>

namespace echolux {
namespace {

glm::dvec3 edges_of(const VolumeGrid& grid) {
    const auto [depth, a_scan, b_scan] = voxel_edges(grid);
    return {depth, a_scan, b_scan};
}

}  // namespace

Stage::Stage(const View& seen_view, const VolumeGrid& seen_grid, const TransferFunction& seen_function)
    : view(seen_view), grid(seen_grid), function(seen_function), extent_(volume_extent(seen_grid)),
      edges_(edges_of(seen_grid)), camera_(seen_view, extent_) {}

bool Stage::is_um() const {
    return std::ranges::any_of(grid.spacing_um, [](double spacing) { return spacing > 0; });
}

DepthScale Stage::depths() const {
    // Up to four digits before the point: 5 mm of depth are written in um, 10 mm in mm.
    const LengthUnit unit = is_um() ? unit_for(extent_.x / 10) : LengthUnit{1, "voxels"};
    const double middle_of_first = grid.spacing_um[0] > 0 ? grid.first_depth_um : 0;
    const double first = middle_of_first - 0.5 * edges_.x;
    return {first / unit.um, (first + extent_.x) / unit.um, unit};
}

glm::dvec3 Stage::from_centre(const glm::dvec3& place) const {
    return place + 0.5 * edges_ - 0.5 * extent_;
}

double Stage::before_eye(const glm::dvec3& point) const {
    return glm::dot(point - camera_.rays().eye, glm::normalize(camera_.rays().ray));
}

std::optional<Segment> Stage::seen(const glm::dvec3& from, const glm::dvec3& to) const {
    const double nearest = 1e-3 * glm::length(extent_);
    const double a = before_eye(from) - nearest;
    const double b = before_eye(to) - nearest;
    const bool perspective = view.projection == Projection::perspective;
    if (perspective && a <= 0 && b <= 0) return std::nullopt;
    glm::dvec3 first = from;
    glm::dvec3 last = to;
    if (perspective && a <= 0) first = glm::mix(from, to, a / (a - b));
    if (perspective && b <= 0) last = glm::mix(from, to, a / (a - b));
    const glm::dvec2 middle = 0.5 * glm::dvec2(view.width, view.height);
    return Segment{middle + camera_.project(first), middle + camera_.project(last)};
}

glm::dvec2 Stage::direction(int axis) const {
    const Camera::Rays& rays = camera_.rays();
    return {glm::normalize(rays.eye_x + rays.ray_x)[axis], glm::normalize(rays.eye_y + rays.ray_y)[axis]};
}

double Stage::pixel_at_target() const {
    const Camera::Rays& rays = camera_.rays();
    const glm::dvec3 target(view.target_um[0], view.target_um[1], view.target_um[2]);
    return std::max(0.0, glm::length(rays.eye_x + before_eye(target) / glm::length(rays.ray) * rays.ray_x));
}

}  // namespace echolux
