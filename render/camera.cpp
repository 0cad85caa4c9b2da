#include "render/camera.h"

#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>

namespace echolux {
namespace {

const glm::dvec3 along_depth{1, 0, 0};
const glm::dvec3 along_a_scans{0, 1, 0};
const glm::dvec3 along_b_scans{0, 0, 1};

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

Camera::Camera(const View& view, const glm::dvec3& extent)
    : extent_(extent), perspective_(view.projection == Projection::perspective) {
    const double azimuth = glm::radians(view.azimuth_deg);
    const double elevation = glm::radians(view.elevation_deg);
    const double roll = glm::radians(view.roll_deg);

    const glm::dvec3 level = -std::cos(azimuth) * along_b_scans + std::sin(azimuth) * along_a_scans;
    const glm::dvec3 right = std::cos(azimuth) * along_a_scans + std::sin(azimuth) * along_b_scans;
    const glm::dvec3 up = -std::cos(elevation) * along_depth - std::sin(elevation) * level;
    towards_ = std::cos(elevation) * level - std::sin(elevation) * along_depth;
    right_ = std::cos(roll) * right + std::sin(roll) * up;
    up_ = std::cos(roll) * up - std::sin(roll) * right;

    const double radius = 0.5 * glm::length(extent);
    const double half_side = 0.5 * static_cast<double>(std::min(view.width, view.height)) * view.zoom;
    const double half_angle = 0.5 * glm::radians(view.fov_deg);
    distance_ = perspective_ ? radius / std::sin(half_angle) : 2 * radius;
    per_pixel_ = (perspective_ ? std::tan(half_angle) : radius) / half_side;

    const glm::dvec3 x = right_ * per_pixel_;
    const glm::dvec3 y = -up_ * per_pixel_;
    const glm::dvec3 none{0};
    rays_ = {distance_ * towards_,    perspective_ ? none : x, perspective_ ? none : y, -towards_,
             perspective_ ? x : none, perspective_ ? y : none};
}

glm::dvec2 Camera::project(const glm::dvec3& point) const {
    const double scale = per_pixel_ * (perspective_ ? distance_ - glm::dot(point, towards_) : 1);
    return {glm::dot(point, right_) / scale, -glm::dot(point, up_) / scale};
}

bool Camera::faces(int axis, int sign) const {
    const double beyond = sign * towards_[axis] * distance_;
    return perspective_ ? beyond > 0.5 * extent_[axis] : beyond > 1e-9 * distance_;
}

}  // namespace echolux
