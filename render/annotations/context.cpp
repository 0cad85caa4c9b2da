#include "render/annotations/context.h"

#include <algorithm>

namespace echolux {
namespace {

glm::dvec3 edges_of(const VolumeGrid& grid) {
    const auto [depth, a_scan, b_scan] = voxel_edges(grid);
    return {depth, a_scan, b_scan};
}

}  // namespace

AnnotationContext::AnnotationContext(const View& seen_view, const VolumeGrid& seen_grid,
                                     const TransferFunction& seen_function)
    : view(seen_view), grid(seen_grid), function(seen_function), extent_(volume_extent(seen_grid)),
      edges_(edges_of(seen_grid)), camera_(seen_view, extent_) {}

bool AnnotationContext::is_um() const {
    return std::ranges::any_of(grid.spacing_um, [](double spacing) { return spacing > 0; });
}

DepthAxis AnnotationContext::depths() const {
    // Up to four digits before the decimal point: a depth of 5 mm is labelled in um, 10 mm in mm.
    const LengthUnit unit = is_um() ? unit_for(extent_.x / 10) : LengthUnit{1, "voxels"};
    const double middle_of_first = grid.spacing_um[0] > 0 ? grid.first_depth_um : 0;
    const double first = middle_of_first - 0.5 * edges_.x;
    return {first / unit.um, (first + extent_.x) / unit.um, unit};
}

glm::dvec3 AnnotationContext::from_centre(const glm::dvec3& place) const {
    return place + 0.5 * edges_ - 0.5 * extent_;
}

std::optional<Segment> AnnotationContext::seen(const glm::dvec3& from, const glm::dvec3& to) const {
    const auto line = camera_.project_line(from, to);
    if (!line) return std::nullopt;
    const glm::dvec2 middle = 0.5 * glm::dvec2(view.width, view.height);
    return Segment{middle + line->from, middle + line->to};
}

// Orthographic projection of the axis: independent of its position.
glm::dvec2 AnnotationContext::direction(int axis) const {
    return {camera_.orientation().right[axis], -camera_.orientation().up[axis]};
}

}  // namespace echolux
