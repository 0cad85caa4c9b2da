// Fields of the canvas, and the combination of all parts.
#include "render/view/view.h"

#include <algorithm>
#include <array>
#include <span>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "render/view/background.h"

namespace echolux {

template <>
const std::vector<Field<Canvas>>& describe<Canvas>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Canvas>> fields{
        choice<Canvas>(
            "mode", &Canvas::mode,
            {"composite", "mip", "minip", "average", "attenuated-mip", "depth-mip", "isosurface", "mida", "points",
             "traced"},
            view,
            "composite: light from all depths; mip, minip, average: the maximum, minimum or mean along each ray; "
            "attenuated-mip: the maximum of values that are attenuated with depth; depth-mip: the maximum, coloured by "
            "its depth; isosurface: where isovalue is first reached; mida: between composite and mip; "
            "points: a point for each visible voxel; traced: by the paths of light, composite (or isosurface) while it "
            "moves"),
        numbers<Canvas>("background", &Canvas::background, 0, 1, "", view, "background colour: red, green, blue"),
        choice<Canvas>(
            "stereo", &Canvas::stereo, {"off", "side-by-side", "anaglyph"}, view,
            "what two eyes see, in saved pictures and movies; side-by-side: the left eye's in the left half; "
            "anaglyph: for glasses with a red glass on the left and a cyan one on the right"),
        flag<Canvas>("transparent", &Canvas::transparent, view, "no background: the picture gets an alpha channel"),
        integer<Canvas>("width", &Canvas::width, 1, 16384, "pixels", view, "width of the picture").soft(256, 8192),
        integer<Canvas>("height", &Canvas::height, 1, 16384, "pixels", view, "height of the picture").soft(256, 8192),
    };
    return fields;
}

template <>
const std::vector<Field<View>>& describe<View>() {
    static const std::vector<Field<View>> fields = [] {
        std::vector<Field<View>> all;
        add_part<View, Canvas>(all);
        add_part<View, Pose>(all);
        add_part<View, Modes>(all);
        add_part<View, Curve>(all);
        add_part<View, Light>(all);
        add_part<View, Cut>(all);
        add_part<View, Slices>(all);
        add_part<View, FlowOverlay>(all);
        add_part<View, Channels>(all);
        add_part<View, Annotations>(all);
        add_part<View, Sampling>(all);
        add_part<View, Tracing>(all);
        add_part<View, Studio>(all);
        return all;
    }();
    return fields;
}

std::int64_t passes_when_saved(const View& view) {
    return view.mode == ViewMode::traced ? view.paths : view.samples;
}

std::int64_t passes_at_rest(const View& view) {
    return view.mode == ViewMode::traced ? view.paths : view.rest_samples;
}

ViewMode mode_while_cast(const View& view) {
    if (view.mode != ViewMode::traced) return view.mode;
    return view.isosurface ? ViewMode::isosurface : ViewMode::composite;
}

namespace {

// Compares what describe() does not list: the content of files and the frame number.
bool has_same_files(const View& a, const View& b) {
    return a.transfer_curve == b.transfer_curve && a.own_preset == b.own_preset && a.frame == b.frame &&
           a.sky_read == b.sky_read && has_same_voxels(a, b);
}

bool is_among(std::span<const std::string_view> names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

}  // namespace

bool is_same(const View& a, const View& b) {
    return has_same_files(a, b) && std::ranges::all_of(describe<View>(), [&](const Field<View>& field) {
               return field.name == "frame_ms" || field.get(a) == field.get(b);
           });
}

bool has_same_paths(const View& a, const View& b) {
    static constexpr std::array<std::string_view, 14> of_display{
        "frame_ms",    "exposure_ev",     "tone",         "white_point", "background",    "background_lower_colour",
        "transparent", "paths",           "noise_target", "title",       "picture_frame", "denoise",
        "shutter",     "shutter_pictures"};
    const auto is_drawn_over = [](std::string_view name) {
        return std::ranges::any_of(describe<Annotations>(), [&](const auto& field) { return field.name == name; });
    };
    // Paths hit the lines of the box, and the background decides their colour.
    const bool has_same_lines = a.box == b.box && (!a.box || has_dark_background(a) == has_dark_background(b));
    return has_same_lines && has_same_files(a, b) &&
           std::ranges::all_of(describe<View>(), [&](const Field<View>& field) {
               return is_among(of_display, field.name) || is_drawn_over(field.name) || field.get(a) == field.get(b);
           });
}

void check_part(const Canvas& canvas) {
    if (canvas.background.size() != 3) {
        throw Error(ErrorCode::bad_setting, "a colour has three numbers", "view.background", "e.g. [0, 0, 0]");
    }
    if (canvas.stereo == Stereo::side_by_side && canvas.width % 2 != 0) {
        throw Error(ErrorCode::bad_setting, "two eyes cannot share an odd number of columns", "view.width",
                    "choose an even one, or view.stereo = anaglyph");
    }
}

void check_view(const View& view) {
    check(view, "view");
    check_part(static_cast<const Canvas&>(view));
    check_part(static_cast<const Pose&>(view));
    check_part(static_cast<const Modes&>(view));
    check_part(static_cast<const Curve&>(view));
    check_part(static_cast<const Light&>(view));
    check_part(static_cast<const Cut&>(view));
    check_part(static_cast<const Slices&>(view));
    check_part(static_cast<const FlowOverlay&>(view));
    check_part(static_cast<const Channels&>(view));
    check_part(static_cast<const Annotations&>(view));
    check_part(static_cast<const Sampling&>(view));
    check_part(static_cast<const Tracing&>(view));
    check_part(static_cast<const Studio&>(view));
    if (view.stereo != Stereo::off && view.projection == Projection::panorama) {
        throw Error(ErrorCode::bad_setting, "a panorama is for one eye", "view.stereo, view.projection",
                    "choose view.stereo = off, or another projection");
    }
    if (view.stereo != Stereo::off && view.show != Shown::volume) {
        throw Error(ErrorCode::bad_setting, "a section is flat for two eyes too", "view.stereo",
                    "show the volume (view.show), or choose view.stereo = off");
    }
}

}  // namespace echolux
