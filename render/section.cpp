#include "render/section.h"

#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>

#include "render/camera.h"
#include "render/view/planes.h"

namespace echolux {
namespace {

// Thin enough for a single sample per ray, at its centre.
constexpr double thinnest_slab = 1.0 / 64;  // in smallest voxel edges

struct Facing {
    Plane plane;
    glm::dvec3 to_eye;
};

// Returns the plane of the section and the direction from it to the eye.
Facing facing(const View& view) {
    const double at = view.plane_offset_um;
    if (view.show == Shown::en_face || view.plane == SlicePlane::en_face) return {{{1, 0, 0}, at}, {-1, 0, 0}};
    if (view.plane == SlicePlane::b_scan) return {{{0, 0, 1}, at}, {0, 0, -1}};
    if (view.plane == SlicePlane::side) return {{{0, 1, 0}, at}, {0, 1, 0}};
    const std::vector<double>& n = view.plane_normal;
    const Plane plane = planes_of({n[0], n[1], n[2], at}).front();
    return {plane, -plane.normal};
}

// Points the camera against the plane's normal. The target stays within the plane.
void look_from(View& view, const glm::dvec3& to_eye) {
    constexpr double upright = 1 - 1e-12;
    view.projection = Projection::orthographic;
    view.elevation_deg = glm::degrees(std::asin(std::clamp(-to_eye.x, -1.0, 1.0)));
    view.azimuth_deg = std::abs(to_eye.x) < upright ? glm::degrees(std::atan2(to_eye.y, -to_eye.z)) : 0;
    view.look = Look::free;
    view.fit = false;
    view.distance = 1;
    view.near_um = 0;
    const glm::dvec3 target(view.target_um[0], view.target_um[1], view.target_um[2]);
    const glm::dvec3 in_plane = target - glm::dot(target, to_eye) * to_eye;
    view.target_um = {in_plane.x, in_plane.y, in_plane.z};
}

// Returns the zoom at which the outline of the volume fills the picture.
double filling_zoom(View view, const glm::dvec3& extent) {
    view.zoom = 1;
    view.target_um = {0, 0, 0};
    const Camera camera(view, extent);
    glm::dvec2 half(0);
    for (int corner = 0; corner < 8; ++corner) {
        const glm::dvec3 sides((corner & 1) - 0.5, (corner >> 1 & 1) - 0.5, (corner >> 2 & 1) - 0.5);
        half = glm::max(half, glm::abs(camera.project(sides * extent)));
    }
    return std::min(0.5 * static_cast<double>(view.width) / half.x, 0.5 * static_cast<double>(view.height) / half.y);
}

// Adds the two planes that bound the slab.
void cut_to_slab(View& view, const Plane& plane, double thickness) {
    const glm::dvec3& n = plane.normal;
    const double above = plane.offset + 0.5 * thickness;
    const double below = plane.offset - 0.5 * thickness;
    view.clip_planes.insert(view.clip_planes.end(), {n.x, n.y, n.z, above, -n.x, -n.y, -n.z, -below});
}

}  // namespace

View section_view(const View& wanted, const VolumeGrid& grid) {
    if (wanted.show == Shown::volume) return wanted;
    View view = wanted;
    const auto [plane, to_eye] = facing(view);
    const glm::dvec3 extent = volume_extent(grid);
    if (view.mode == ViewMode::composite || view.mode == ViewMode::traced) view.mode = ViewMode::average;
    look_from(view, to_eye);
    view.zoom *= filling_zoom(view, extent);
    if (view.show == Shown::slice) {
        const double smallest = std::ranges::min(voxel_edges(grid));
        cut_to_slab(view, plane, std::max(view.slab_um, thinnest_slab * smallest));
    }
    return view;
}

}  // namespace echolux
