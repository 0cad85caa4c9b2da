#include "render/camera_motion.h"

#include <algorithm>
#include <glm/geometric.hpp>
#include <glm/gtc/quaternion.hpp>
#include <utility>

#include "render/camera.h"

namespace echolux {
namespace {

// Rotates the eye. (depth, A-scans, B-scans) is left-handed: a positive angle is clockwise as seen against the axis.
View turned(View view, const glm::dquat& turn) {
    Orientation orientation = orientation_of(view);
    for (glm::dvec3* axis : {&orientation.right, &orientation.up, &orientation.towards}) *axis = turn * *axis;
    const Angles angles = angles_of(orientation, angles_of(view).azimuth_deg);
    view.look = Look::free;
    view.azimuth_deg = angles.azimuth_deg;
    view.elevation_deg = angles.elevation_deg;
    view.roll_deg = angles.roll_deg;
    return view;
}

// Returns a view with the same picture but without `fit`, which would change the size with every motion.
View settled(View view, const glm::dvec3& extent) {
    if (!view.fit) return view;
    const double fitting = Camera(view, extent).length_per_pixel();
    view.fit = false;
    if (fitting > 0)  // zero if the eye is at the target
        view.zoom = std::clamp(view.zoom * Camera(view, extent).length_per_pixel() / fitting, 0.01, 100.0);
    return view;
}

void shift_target(View& view, const glm::dvec3& by) {
    for (int axis = 0; axis < 3; ++axis) view.target_um[static_cast<std::size_t>(axis)] += by[axis];
}

}  // namespace

View orbited(View view, const glm::dvec2& pixels) {
    const double length = glm::length(pixels);
    if (length == 0) return view;
    const double radius = 0.5 * static_cast<double>(std::min(view.width, view.height));
    const Orientation now = orientation_of(view);
    // The volume follows the pointer, so the eye moves in the opposite direction.
    const glm::dvec3 axis = (pixels.x * now.up + pixels.y * now.right) / length;
    return turned(std::move(view), glm::angleAxis(length / radius, axis));
}

View panned(View view, const glm::dvec2& pixels, const glm::dvec3& extent) {
    view = settled(std::move(view), extent);
    const Camera camera(view, extent);
    const auto& [right, up, towards] = camera.orientation();
    shift_target(view, (-pixels.x * right + pixels.y * up) * camera.length_per_pixel());
    return view;
}

View dollied(View view, double factor, const glm::dvec2& at, const glm::dvec3& extent) {
    view = settled(std::move(view), extent);
    const Camera before(view, extent);
    if (view.projection != Projection::orthographic) {
        view.distance = std::clamp(view.distance / factor, 0.0, 100.0);
    } else {
        view.zoom = std::clamp(view.zoom * factor, 0.01, 100.0);
    }
    const double nearer = before.length_per_pixel() - Camera(view, extent).length_per_pixel();
    shift_target(view, (at.x * before.orientation().right - at.y * before.orientation().up) * nearer);
    return view;
}

View looked(View view, double right_deg, double up_deg, const glm::dvec3& extent) {
    view = settled(std::move(view), extent);
    const glm::dvec3 eye = Camera(view, extent).eye();
    const Orientation now = orientation_of(view);
    const glm::dquat turn =
        glm::angleAxis(glm::radians(right_deg), now.up) * glm::angleAxis(glm::radians(-up_deg), now.right);
    view = turned(std::move(view), turn);
    shift_target(view, eye - Camera(view, extent).eye());
    return view;
}

View moved(View view, const glm::dvec3& right_up_forward, const glm::dvec3& extent) {
    view = settled(std::move(view), extent);
    const auto [right, up, towards] = orientation_of(view);
    shift_target(view, right_up_forward.x * right + right_up_forward.y * up - right_up_forward.z * towards);
    return view;
}

View fitted(View view, const glm::dvec3& extent) {
    view.target_um = {0, 0, 0};
    view.distance = 1;
    view.zoom = 1;
    view.fit = true;
    return settled(std::move(view), extent);
}

}  // namespace echolux
