#include "render/camera.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <glm/geometric.hpp>
#include <glm/gtc/quaternion.hpp>
#include <glm/trigonometric.hpp>
#include <numbers>
#include <utility>

#include "compute/indexing.h"
#include "render/view/view.h"

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

static Orientation orientation_of(const Angles& angles) {
    const double azimuth = glm::radians(angles.azimuth_deg);
    const double elevation = glm::radians(angles.elevation_deg);
    const double roll = glm::radians(angles.roll_deg);
    const glm::dvec3 level = -std::cos(azimuth) * along_b_scans + std::sin(azimuth) * along_a_scans;
    const glm::dvec3 right = std::cos(azimuth) * along_a_scans + std::sin(azimuth) * along_b_scans;
    const glm::dvec3 up = -std::cos(elevation) * along_depth - std::sin(elevation) * level;
    return {std::cos(roll) * right + std::sin(roll) * up, std::cos(roll) * up - std::sin(roll) * right,
            std::cos(elevation) * level - std::sin(elevation) * along_depth};
}

Orientation orientation_of(const Pose& pose) {
    return orientation_of(angles_of(pose));
}

Angles angles_of(const Orientation& orientation, double azimuth_deg) {
    constexpr double straight = 1e-9;  // closer to the pole, the azimuth is numerical noise
    const auto& [right, up, towards] = orientation;
    const double level = std::hypot(towards.y, towards.z);
    const Angles upright{level > straight ? glm::degrees(std::atan2(towards.y, -towards.z)) : azimuth_deg,
                         glm::degrees(std::atan2(-towards.x, level)), 0};
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

// ---- Camera motion

// Rotates the eye. (depth, A-scans, B-scans) is left-handed: a positive angle is clockwise as seen against the axis.
static View turned(View view, const glm::dquat& turn) {
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
static View settled(View view, const glm::dvec3& extent) {
    if (!view.fit) return view;
    const double fitting = Camera(view, extent).length_per_pixel();
    view.fit = false;
    if (fitting > 0)  // zero if the eye is at the target
        view.zoom = std::clamp(view.zoom * Camera(view, extent).length_per_pixel() / fitting, 0.01, 100.0);
    return view;
}

static void shift_target(View& view, const glm::dvec3& by) {
    for (int axis = 0; axis < 3; ++axis) view.target_um[index(axis)] += by[axis];
}

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

// ---- Section

namespace {

// Thin enough for a single sample per ray, at its centre.
constexpr double thinnest_slab = 1.0 / 64;  // in smallest voxel edges

struct Facing {
    Plane plane;
    glm::dvec3 to_eye;
};

// Returns the plane of the section and the direction from it to the eye, as seen from the front.
Facing front_of(const View& view) {
    const double at = view.plane_offset_um;
    if (view.show == ViewContent::en_face || view.plane == SlicePlane::en_face) return {{{1, 0, 0}, at}, {-1, 0, 0}};
    if (view.plane == SlicePlane::b_scan) return {{{0, 0, 1}, at}, {0, 0, -1}};
    if (view.plane == SlicePlane::side) return {{{0, 1, 0}, at}, {0, 1, 0}};
    const std::vector<double>& n = view.plane_normal;
    const Plane plane = planes_of({n[0], n[1], n[2], at}).front();
    return {plane, -plane.normal};
}

Facing facing(const View& view) {
    Facing front = front_of(view);
    if (view.plane_from_behind) front.to_eye = -front.to_eye;
    return front;
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
    if (wanted.show == ViewContent::volume) return wanted;
    View view = wanted;
    const auto [plane, to_eye] = facing(view);
    const glm::dvec3 extent = volume_extent(grid);
    view.mode = text_of(view.mode).in_section;
    look_from(view, to_eye);
    view.zoom *= filling_zoom(view, extent);
    if (view.show == ViewContent::slice) {
        const double smallest = std::ranges::min(voxel_edges(grid));
        cut_to_slab(view, plane, std::max(view.slab_um, thinnest_slab * smallest));
    }
    return view;
}

// ---- Stereo

constexpr std::size_t rgba_channels = 4;

// Interleaves the rows of both eyes.
static std::vector<std::byte> side_by_side(std::size_t bytes_per_row, const std::vector<std::vector<std::byte>>& eyes) {
    std::vector<std::byte> rows;
    rows.reserve(eyes.size() * eyes.front().size());
    for (std::size_t begin = 0; begin < eyes.front().size(); begin += bytes_per_row) {
        for (const auto& eye : eyes) {
            const auto row = std::span(eye).subspan(begin, bytes_per_row);
            rows.insert(rows.end(), row.begin(), row.end());
        }
    }
    return rows;
}

// Rec. 601 weights, for non-linear display codes.
template <class Code>
static Code luminance_of(const Code* rgb) {
    return static_cast<Code>(std::lround(0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]));
}

// Overwrites `left` with the anaglyph.
template <class Code>
static void put_beside(std::span<std::byte> left, std::span<const std::byte> right) {
    constexpr std::size_t bytes = rgba_channels * sizeof(Code);
    for (std::size_t at = 0; at < left.size(); at += bytes) {
        Code of_left[rgba_channels], of_right[rgba_channels];
        std::memcpy(of_left, left.data() + at, bytes);
        std::memcpy(of_right, right.data() + at, bytes);
        const Code both[rgba_channels]{luminance_of(of_left), of_right[1], of_right[2],
                                       std::max(of_left[3], of_right[3])};
        std::memcpy(left.data() + at, both, bytes);
    }
}

static std::vector<std::byte> anaglyph(PictureBits bits, std::vector<std::vector<std::byte>> eyes) {
    if (bits == PictureBits::sixteen)
        put_beside<std::uint16_t>(eyes[0], eyes[1]);
    else
        put_beside<std::uint8_t>(eyes[0], eyes[1]);
    return std::move(eyes[0]);
}

std::vector<View> eyes_of(const View& view) {
    if (view.stereo == Stereo::off) return {view};
    View left = view;
    left.stereo = Stereo::off;
    if (view.stereo == Stereo::side_by_side) left.width /= 2;
    View right = left;
    left.eye = -0.5;
    right.eye = 0.5;
    return {left, right};
}

std::vector<std::byte> joined(const View& view, PictureBits bits, std::vector<std::vector<std::byte>> eyes) {
    if (view.stereo == Stereo::off) return std::move(eyes.front());
    if (view.stereo == Stereo::anaglyph) return anaglyph(bits, std::move(eyes));
    return side_by_side(rgba_channels * static_cast<std::size_t>(bits) / 8 * index(view.width / 2), eyes);
}

}  // namespace echolux
