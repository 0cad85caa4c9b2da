#include "app/viewer/pane_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "app/open/patient_view.h"
#include "compute/indexing.h"
#include "engine/io/image_header.h"
#include "render/camera.h"

namespace echolux {

// ---- Views

namespace {

constexpr double margin = 0.97;  // of a section shown completely

bool is_between_heights(const View& view) {
    return view.heights_cut && (view.top_um > above_all_um || view.bottom_um < below_all_um);
}

// Sections show everything recorded, without clipping and lighting.
void forget_cuts(View& view, bool keeps_heights) {
    const Cut whole{};
    const std::string flatten = view.flatten;
    const Cut heights = view;
    static_cast<Cut&>(view) = whole;
    view.flatten = flatten;
    if (!keeps_heights) return;
    view.top_from = heights.top_from;
    view.top_um = heights.top_um;
    view.bottom_from = heights.bottom_from;
    view.bottom_um = heights.bottom_um;
}

void annotate_section(View& view, double text_pixels) {
    const auto shorter = static_cast<double>(std::min(view.width, view.height));
    Annotations of_section;
    of_section.distances = std::move(view.distances);
    of_section.angles = std::move(view.angles);
    static_cast<Annotations&>(view) = std::move(of_section);
    view.box = false;
    // The scale bar takes a fifth of the width, and its text needs room above it, beside the title.
    view.scale_bar =
        static_cast<double>(view.width) > 9 * text_pixels && static_cast<double>(view.height) > 7 * text_pixels;
    view.text_size = std::clamp(text_pixels / shorter, 0.005, 0.2);
}

SlicePlane plane_of(PaneKind section) {
    if (section == PaneKind::b_scan) return SlicePlane::b_scan;
    return section == PaneKind::side ? SlicePlane::side : SlicePlane::en_face;
}

// In a thin section all modes show the same voxels. The minimum is used because it is displayed over the whole value
// range, whereas maxima use a higher range.
ViewMode mode_of_section(const View& view, bool is_thick) {
    if (!is_thick && view.slab_um <= 0) return ViewMode::minip;
    return text_of(view.mode).ray == RayKind::value ? view.mode : ViewMode::average;
}

// Keeps the groups of `size` numbers that are in the section's plane.
std::vector<double> those_in(const std::vector<double>& numbers, std::size_t size, const PaneRequest& wanted) {
    std::vector<double> kept;
    for (std::size_t at = 0; at + size <= numbers.size(); at += size) {
        const std::span group = std::span(numbers).subspan(at, size);
        if (is_inside(wanted.kind, wanted.cross_um, group, *wanted.grid))
            kept.insert(kept.end(), group.begin(), group.end());
    }
    return kept;
}

// Measurements in other planes would seem to be in this one. A projection shows all of them.
void keep_measurements(View& pane, const PaneRequest& wanted, bool projects) {
    if (wanted.grid == nullptr) {
        pane.distances.clear();
        pane.angles.clear();
    } else if (!projects) {
        pane.distances = those_in(pane.distances, 6, wanted);
        pane.angles = those_in(pane.angles, 9, wanted);
    }
}

// Orientation of a section that puts the patient's sides where the convention wants them. std::nullopt without a known
// orientation.
std::optional<Orientation> upright_section(PaneKind section, const std::string& letters, SectionConvention convention) {
    if (letters.size() != 3) return {};
    const int across = axis_across(section);
    const auto along = [&](char side) -> std::optional<glm::dvec3> {
        for (int axis = 0; axis < 3; ++axis) {
            const char letter = letters[index(axis)];
            const bool is_there = letter == side, is_opposite = opposite_side(letter) == std::string(1, side);
            if (axis == across || (!is_there && !is_opposite)) continue;
            glm::dvec3 unit(0);
            unit[axis] = is_there ? 1 : -1;
            return unit;
        }
        return {};
    };
    const std::string_view plane = medical_name(letters[index(across)]);
    const char left_or_right = convention == SectionConvention::radiological ? 'L' : 'R';
    const auto right = along(plane == "Sagittal" ? 'P' : left_or_right), down = along(plane == "Axial" ? 'P' : 'I');
    if (!right || !down) return {};
    return Orientation{*right, -*down, glm::cross(*right, *down)};
}

// Turns the section by its camera: from the front or from behind, and rolled.
void turn_upright(View& pane, const PaneRequest& wanted) {
    const auto upright = upright_section(wanted.kind, wanted.orientation, wanted.convention);
    if (!upright) return;
    const glm::dvec3& eye = upright->towards;
    const double in_front = wanted.kind == PaneKind::side ? eye.y : wanted.kind == PaneKind::en_face ? -eye.x : -eye.z;
    pane.plane_from_behind = in_front < 0;
    pane.roll_deg = angles_of(*upright, 0).roll_deg;
}

struct Projected {
    Camera camera;
    glm::dvec2 middle;
};

Projected projected(const View& pane, const VolumeGrid& grid) {
    return {Camera(section_view(pane, grid), volume_extent(grid)),
            0.5 * glm::dvec2(static_cast<double>(pane.width), static_cast<double>(pane.height))};
}

std::array<double, 3> sum(const std::array<double, 3>& a, const glm::dvec3& b) {
    return {a[0] + b.x, a[1] + b.y, a[2] + b.z};
}

}  // namespace

int axis_across(PaneKind section) {
    switch (section) {
        case PaneKind::en_face: return 0;
        case PaneKind::side: return 1;
        default: return 2;
    }
}

View pane_view(const View& view, const PaneRequest& wanted) {
    View pane = view;
    pane.width = wanted.width;
    pane.height = wanted.height;
    pane.frame_ms = wanted.frame_ms;
    pane.transparent = false;
    pane.stereo = Stereo::off;  // for saved pictures; on screen both eyes see the same
    pane.eyes_apart = Pose{}.eyes_apart;
    if (!pane.flow_streaks.empty()) pane.streak_time_s += wanted.moment_s;
    if (wanted.kind == PaneKind::volume) return pane;
    const bool projects = wanted.kind == PaneKind::en_face && is_between_heights(view);
    forget_cuts(pane, projects);
    pane.show = projects ? ViewContent::en_face : ViewContent::slice;
    pane.plane = plane_of(wanted.kind);
    pane.plane_offset_um = wanted.cross_um[index(axis_across(wanted.kind))];
    static_cast<Pose&>(pane) = Pose{};
    pane.zoom = wanted.look.zoom * margin;
    pane.target_um.assign(wanted.look.centre_um.begin(), wanted.look.centre_um.end());
    pane.plane_from_behind = false;
    turn_upright(pane, wanted);
    pane.slices.clear();
    pane.ambient_occlusion = 0;
    pane.shadows = 0;
    pane.mode = mode_of_section(view, projects);
    if (wanted.levels) {
        pane.low = wanted.levels->low;
        pane.high = wanted.levels->high;
    }
    annotate_section(pane, wanted.text_pixels);
    keep_measurements(pane, wanted, projects);
    return pane;
}

glm::dvec2 pixel_of(const View& pane, const VolumeGrid& grid, const glm::dvec3& place) {
    const Projected p = projected(pane, grid);
    return p.camera.project(place) + p.middle;
}

glm::dvec3 place_at(const View& pane, const VolumeGrid& grid, const glm::dvec2& pixel) {
    const Projected p = projected(pane, grid);
    const Orientation& eye = p.camera.orientation();
    const glm::dvec2 from = (pixel - p.middle) * p.camera.length_per_pixel();
    glm::dvec3 place = p.camera.eye() + from.x * eye.right - from.y * eye.up;
    const int across = pane.show == ViewContent::en_face || pane.plane == SlicePlane::en_face ? 0
                       : pane.plane == SlicePlane::side                                       ? 1
                                                                                              : 2;
    place[across] = pane.plane_offset_um;
    return place;
}

glm::dvec3 from_centre(std::span<const double> place, const VolumeGrid& grid) {
    const std::array<double, 3> edges = voxel_edges(grid);
    return glm::dvec3(place[0] + 0.5 * edges[0], place[1] + 0.5 * edges[1], place[2] + 0.5 * edges[2]) -
           0.5 * volume_extent(grid);
}

bool is_inside(PaneKind section, const std::array<double, 3>& cross_um, std::span<const double> places,
               const VolumeGrid& grid) {
    constexpr double near_edges = 0.75;  // of a voxel, on both sides
    const auto axis = index(axis_across(section));
    for (std::size_t at = 0; at + 3 <= places.size(); at += 3) {
        const double off = from_centre(places.subspan(at, 3), grid)[static_cast<int>(axis)] - cross_um[axis];
        if (std::abs(off) > near_edges * voxel_edges(grid)[axis]) return false;
    }
    return true;
}

std::array<double, 3> kept_inside(const std::array<double, 3>& place, const VolumeGrid& grid) {
    const glm::dvec3 half = 0.5 * volume_extent(grid);
    const std::array<double, 3> edges = voxel_edges(grid);
    std::array<double, 3> inside = place;
    for (int axis = 0; axis < 3; ++axis) {
        const auto i = index(axis);
        const double most = std::max(0.0, half[axis] - 0.5 * edges[i]);
        inside[i] = std::clamp(inside[i], -most, most);
    }
    return inside;
}

std::int64_t voxel_index(double from_centre, const VolumeGrid& grid, int axis) {
    const std::array<std::int64_t, 3> sizes{grid.depth, grid.a_scans, grid.b_scans};
    const auto i = index(axis);
    const double index = from_centre / voxel_edges(grid)[i] + 0.5 * static_cast<double>(sizes[i]) - 0.5;
    return std::clamp<std::int64_t>(std::llround(index), 0, sizes[i] - 1);
}

PaneLook look_dragged(const PaneLook& look, const View& pane, const VolumeGrid& grid, const glm::dvec2& pixels) {
    const Projected p = projected(pane, grid);
    const Orientation& eye = p.camera.orientation();
    const glm::dvec3 shift = (-pixels.x * eye.right + pixels.y * eye.up) * p.camera.length_per_pixel();
    return {look.zoom, kept_inside(sum(look.centre_um, shift), grid)};
}

// The point under the pointer stays in place: the centre moves towards it by the share that the zoom gains.
PaneLook look_enlarged(const PaneLook& look, const View& pane, const VolumeGrid& grid, const glm::dvec2& at,
                       double factor) {
    const double zoom = std::clamp(look.zoom * factor, 1.0, 60.0);
    if (zoom == 1) return {};
    const Projected p = projected(pane, grid);
    const Orientation& eye = p.camera.orientation();
    const glm::dvec2 from = (at - p.middle) * p.camera.length_per_pixel() * (1 - look.zoom / zoom);
    return {zoom, kept_inside(sum(look.centre_um, from.x * eye.right - from.y * eye.up), grid)};
}

// ---- Patient orientation

const char* medical_name(char letter) {
    if (letter == 'S' || letter == 'I') return "Axial";
    return letter == 'A' || letter == 'P' ? "Coronal" : "Sagittal";
}

std::string side_of_patient(const std::string& orientation, int axis, bool is_end) {
    const char letter = orientation[index(axis)];
    return is_end ? std::string(1, letter) : opposite_side(letter);
}

std::string patient_position(const std::array<double, 3>& place_um, const VolumeGrid& grid,
                             const std::string& orientation) {
    const bool has_spacing = std::ranges::all_of(grid.spacing_um, [](double edge) { return edge > 0; });
    if (!has_spacing || orientation.size() != 3) return {};
    const glm::dvec3 place = from_centre(place_um, grid);
    std::string text;
    for (const char side : {'R', 'A', 'S'}) {
        const auto unit = towards_side(side, orientation);
        if (!unit) return {};
        text += fmt::format("{} {:.1f} ", side, glm::dot(place, *unit) / 1000 + 0.0);
    }
    return text + "mm from centre";
}

SideLetters letters_of(const View& section, const VolumeGrid& grid, const std::string& orientation) {
    SideLetters letters;
    if (orientation.size() != 3) return letters;
    const glm::dvec2 middle = pixel_of(section, grid, {0, 0, 0});
    for (int axis = 0; axis < 3; ++axis) {
        glm::dvec3 along(0);
        along[axis] = volume_extent(grid)[axis];
        const glm::dvec2 by = pixel_of(section, grid, along) - middle;
        const char letter = orientation[index(axis)];
        const std::string here(1, letter), there = opposite_side(letter);
        if (std::abs(by.x) > 1 && std::abs(by.x) > std::abs(by.y)) {
            letters.right = by.x > 0 ? here : there;
            letters.left = by.x > 0 ? there : here;
        } else if (std::abs(by.y) > 1) {
            letters.bottom = by.y > 0 ? here : there;
            letters.top = by.y > 0 ? there : here;
        }
    }
    return letters;
}

}  // namespace echolux
