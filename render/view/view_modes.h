// The modes of a picture of the volume: one described entry per mode. A new mode needs an enumerator, a shader constant
// in shaders/shared/modes.h and an entry here, which the compiler checks, and its rays in shaders/raycast/.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "shaders/shared/modes.h"

namespace echolux {

enum class ViewMode {
    composite,
    mip,
    minip,
    average,
    attenuated_mip,
    depth_mip,
    isosurface,
    mida,
    points,
    traced,
    end  // number of modes
};

// Content of the picture along a ray. The shaders add flow and channels accordingly: to the samples, before the
// surface, or as the fastest flow and the largest value of the ray.
enum class RayKind {
    mixed,          // the colours of its samples
    surface,        // the first surface
    light,          // paths of light, which scatter at samples
    value,          // one value, gray or coloured by the curve in sections
    coloured_value  // one value, which has its colour in sections too
};

// Values that a ray shows. Others may be skipped, together with their pages.
enum class VisibleValues { with_extinction, from_isovalue, above_low, below_high, all };

// Statistic of many voxels that a ray shows, which shifts the automatic range of values.
enum class RayStatistic { none, maximum, mean };

enum class ModeLegend { none, value, depth };

struct ViewModeText {
    ViewMode mode;
    int shader;  // value of shared::constant_mode
    std::string_view name, help;
    RayKind ray;
    VisibleValues seen;
    RayStatistic statistic = RayStatistic::none;
    ModeLegend legend = ModeLegend::value;
    bool has_second_axis = false;  // the plane of a curve applies
    ViewMode in_section = mode;    // the mode of separate sections

    // Returns whether samples are shaded, so that lamps, ambient occlusion, shadows, caps and outlines apply.
    constexpr bool is_lit() const { return ray == RayKind::mixed || ray == RayKind::surface || ray == RayKind::light; }
};

inline constexpr auto view_modes = std::to_array<ViewModeText>({
    {.mode = ViewMode::composite,
     .shader = shared::mode_composite,
     .name = "composite",
     .help = "light from all depths",
     .ray = RayKind::mixed,
     .seen = VisibleValues::with_extinction,
     .has_second_axis = true,
     .in_section = ViewMode::average},
    {.mode = ViewMode::mip,
     .shader = shared::mode_mip,
     .name = "mip",
     .help = "maximum along each ray",
     .ray = RayKind::value,
     .seen = VisibleValues::above_low,
     .statistic = RayStatistic::maximum},
    {.mode = ViewMode::minip,
     .shader = shared::mode_minip,
     .name = "minip",
     .help = "the minimum",
     .ray = RayKind::value,
     .seen = VisibleValues::below_high},
    {.mode = ViewMode::average,
     .shader = shared::mode_average,
     .name = "average",
     .help = "the mean",
     .ray = RayKind::value,
     .seen = VisibleValues::all,
     .statistic = RayStatistic::mean},
    {.mode = ViewMode::attenuated_mip,
     .shader = shared::mode_attenuated_mip,
     .name = "attenuated-mip",
     .help = "maximum of values attenuated with depth",
     .ray = RayKind::coloured_value,
     .seen = VisibleValues::above_low,
     .statistic = RayStatistic::maximum},
    {.mode = ViewMode::depth_mip,
     .shader = shared::mode_depth_mip,
     .name = "depth-mip",
     .help = "maximum, coloured by its depth",
     .ray = RayKind::coloured_value,
     .seen = VisibleValues::above_low,
     .statistic = RayStatistic::maximum,
     .legend = ModeLegend::depth},
    {.mode = ViewMode::isosurface,
     .shader = shared::mode_isosurface,
     .name = "isosurface",
     .help = "where isovalue is first reached",
     .ray = RayKind::surface,
     .seen = VisibleValues::from_isovalue,
     .legend = ModeLegend::none},  // surfaces have one colour
    {.mode = ViewMode::mida,
     .shader = shared::mode_mida,
     .name = "mida",
     .help = "between composite and mip",
     .ray = RayKind::mixed,
     .seen = VisibleValues::with_extinction,
     .has_second_axis = true},
    {.mode = ViewMode::points,
     .shader = shared::mode_points,
     .name = "points",
     .help = "a point for each visible voxel",
     .ray = RayKind::surface,
     .seen = VisibleValues::with_extinction,
     .has_second_axis = true},
    {.mode = ViewMode::traced,
     .shader = shared::mode_traced,
     .name = "traced",
     .help = "path tracing; composite (or isosurface) while the view moves",
     .ray = RayKind::light,
     .seen = VisibleValues::with_extinction,
     .has_second_axis = true,
     .in_section = ViewMode::average},
});

constexpr const ViewModeText& text_of(ViewMode mode) {
    return view_modes[static_cast<std::size_t>(mode)];
}

// Returns the set of modes with these rays: bit `shader` is set.
constexpr int modes_with(RayKind ray) {
    int bits = 0;
    for (const ViewModeText& mode : view_modes) bits |= mode.ray == ray ? 1 << mode.shader : 0;
    return bits;
}

// Returns whether each mode has an entry in the place of its enumerator, with the same shader constant.
constexpr bool all_modes_have_entries() {
    for (std::size_t i = 0; i < view_modes.size(); ++i) {
        const ViewModeText& mode = view_modes[i];
        if (static_cast<std::size_t>(mode.mode) != i || mode.shader != static_cast<int>(i) || mode.name.empty() ||
            mode.help.empty()) {
            return false;
        }
    }
    return view_modes.size() == static_cast<std::size_t>(ViewMode::end);
}

static_assert(all_modes_have_entries(), "each ViewMode needs an entry in view_modes, in the same order");
static_assert(modes_with(RayKind::mixed) == shared::modes_mixing_samples &&
                  modes_with(RayKind::surface) == shared::modes_ending_at_surface &&
                  modes_with(RayKind::value) == shared::modes_showing_value,
              "the sets in shaders/shared/modes.h must agree with view_modes");

}  // namespace echolux
