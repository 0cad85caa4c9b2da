#include "render/camera.h"

#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>
#include <numbers>

namespace echolux {
namespace {

const glm::dvec3 along_depth{1, 0, 0};
const glm::dvec3 along_a_scans{0, 1, 0};
const glm::dvec3 along_b_scans{0, 0, 1};

// Returns the first positive length, or 1 without one.
double first_known(std::initializer_list<double> lengths) {
    for (const double length : lengths) {
        if (length > 0) return length;
    }
    return 1;
}

}  // namespace

std::array<double, 3> voxel_edges(const VolumeGrid& grid) {
    const auto& [depth, a_scan, b_scan] = grid.spacing_um;
    return {first_known({depth, a_scan, b_scan}), first_known({a_scan, b_scan, depth}),
            first_known({b_scan, a_scan, depth})};
}

glm::dvec3 volume_extent(const VolumeGrid& grid) {
    const auto [depth, a_scan, b_scan] = voxel_edges(grid);
    return {static_cast<double>(grid.depth) * depth, static_cast<double>(grid.a_scans) * a_scan,
            static_cast<double>(grid.b_scans) * b_scan};
}

Orientation orientation_of(const Pose& pose) {
    const Angles angles = angles_of(pose);
    const double azimuth = glm::radians(angles.azimuth_deg);
    const double elevation = glm::radians(angles.elevation_deg);
    const double roll = glm::radians(angles.roll_deg);
    const glm::dvec3 level = -std::cos(azimuth) * along_b_scans + std::sin(azimuth) * along_a_scans;
    const glm::dvec3 right = std::cos(azimuth) * along_a_scans + std::sin(azimuth) * along_b_scans;
    const glm::dvec3 up = -std::cos(elevation) * along_depth - std::sin(elevation) * level;
    return {std::cos(roll) * right + std::sin(roll) * up, std::cos(roll) * up - std::sin(roll) * right,
            std::cos(elevation) * level - std::sin(elevation) * along_depth};
}

Angles angles_of(const Orientation& orientation, double azimuth_deg) {
    constexpr double straight = 1e-9;  // closer to the pole, the azimuth is numerical noise
    const auto& [right, up, towards] = orientation;
    const double level = std::hypot(towards.y, towards.z);
    Pose upright;
    upright.azimuth_deg = level > straight ? glm::degrees(std::atan2(towards.y, -towards.z)) : azimuth_deg;
    upright.elevation_deg = glm::degrees(std::atan2(-towards.x, level));
    const Orientation unrolled = orientation_of(upright);
    const double roll = std::atan2(glm::dot(right, unrolled.up), glm::dot(right, unrolled.right));
    return {upright.azimuth_deg, upright.elevation_deg, glm::degrees(roll)};
}

Camera::Camera(const View& view, const glm::dvec3& extent)
    : orientation_(orientation_of(view)), extent_(extent),
      target_(view.target_um[0], view.target_um[1], view.target_um[2]), near_(view.near_um),
      perspective_(view.projection != Projection::orthographic), around_(view.projection == Projection::panorama) {
    const double radius = 0.5 * glm::length(extent);
    // Zoom 1 fits the volume's bounding sphere into the shorter side of the picture.
    const double half_side = 0.5 * static_cast<double>(std::min(view.width, view.height));
    const double half_angle = 0.5 * glm::radians(view.fov_deg);
    distance_ = view.distance * (perspective_ ? radius / std::sin(half_angle) : 2 * radius);
    per_pixel_ = (perspective_ ? std::tan(half_angle) : radius) / half_side;
    if (view.fit && !around_) fit(0.5 * static_cast<double>(view.width), 0.5 * static_cast<double>(view.height));
    per_pixel_ = around_ ? 2 * std::numbers::pi / static_cast<double>(view.width) : per_pixel_ / view.zoom;
    aside_ = view.eye * view.eyes_apart * distance_;

    const glm::dvec3 x = orientation_.right * per_pixel_;
    const double down = around_ ? std::numbers::pi / static_cast<double>(view.height) : per_pixel_;
    const glm::dvec3 y = -orientation_.up * down;
    const glm::dvec3 none{0};
    rays_ = {eye(),
             perspective_ ? none : x,
             perspective_ ? none : y,
             -orientation_.towards - aside_ / std::max(distance_, 1e-12) * orientation_.right,
             perspective_ ? x : none,
             perspective_ ? y : none};
}

// Enlarges the picture until a corner of the volume reaches the margin. Does nothing if a corner is behind the eye.
void Camera::fit(double half_width, double half_height) {
    constexpr double margin = 1.04;
    double beyond = 0;  // largest ratio of the volume's projection to the picture
    for (int corner = 0; corner < 8; ++corner) {
        const glm::dvec3 side((corner & 1) - 0.5, ((corner >> 1) & 1) - 0.5, ((corner >> 2) & 1) - 0.5);
        const glm::dvec3 point = side * extent_;
        if (perspective_ && depth_of(point) <= 0) return;
        const glm::dvec2 pixel = project(point);
        beyond = std::max({beyond, std::abs(pixel.x) / half_width, std::abs(pixel.y) / half_height});
    }
    per_pixel_ *= beyond * margin;
}

Camera::Ray Camera::ray_at(const glm::dvec2& from_middle) const {
    const double x = from_middle.x, y = from_middle.y;
    const auto& [eye, eye_x, eye_y, ray, ray_x, ray_y] = rays_;
    if (!around_) return {eye + x * eye_x + y * eye_y, glm::normalize(ray + x * ray_x + y * ray_y)};
    const double longitude = x * glm::length(ray_x), down = y * glm::length(ray_y);
    const glm::dvec3 level = std::cos(longitude) * ray + std::sin(longitude) * orientation_.right;
    return {eye, std::cos(down) * level - std::sin(down) * orientation_.up};
}

glm::dvec2 Camera::project_around(const glm::dvec3& from_eye) const {
    const double right = glm::dot(from_eye, orientation_.right), ahead = -glm::dot(from_eye, orientation_.towards);
    const double down = -glm::dot(from_eye, orientation_.up);
    return {std::atan2(right, ahead) / glm::length(rays_.ray_x),
            std::atan2(down, std::hypot(right, ahead)) / glm::length(rays_.ray_y)};
}

glm::dvec2 Camera::project(const glm::dvec3& point) const {
    if (around_) return project_around(point - eye());
    const glm::dvec3 from = point - target_;
    const double depth = depth_of(point);
    const double scale = per_pixel_ * (perspective_ ? depth : 1);
    const double aside = aside_ * (1 - depth / std::max(distance_, 1e-12));  // of this eye's ray through the target
    return {(glm::dot(from, orientation_.right) - aside) / scale, -glm::dot(from, orientation_.up) / scale};
}

double Camera::depth_of(const glm::dvec3& point) const {
    return distance_ - glm::dot(point - target_, orientation_.towards);
}

std::optional<Camera::Line> Camera::project_line(const glm::dvec3& from, const glm::dvec3& to) const {
    if (around_) return std::nullopt;
    const double nearest = std::max(near_, 1e-6 * glm::length(extent_));
    const double a = depth_of(from) - nearest;
    const double b = depth_of(to) - nearest;
    if (a < 0 && b < 0) return std::nullopt;
    // Clips the line at the near distance.
    const glm::dvec3 crossing = a == b ? from : from + a / (a - b) * (to - from);
    return Line{project(a < 0 ? crossing : from), project(b < 0 ? crossing : to)};
}

bool Camera::faces(int axis, int sign) const {
    if (perspective_) return sign * eye()[axis] > 0.5 * extent_[axis];
    return sign * orientation_.towards[axis] > 1e-9;
}

}  // namespace echolux
