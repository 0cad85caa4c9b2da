// Fields of all parts of the view: their descriptions, checks and combination.
#include "render/view/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <glm/geometric.hpp>
#include <span>

#include "assets/assets.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "render/view/curve.h"

namespace echolux {

namespace {

std::vector<std::string_view> names_of_modes() {
    std::vector<std::string_view> names;
    for (const ViewModeText& mode : view_modes) names.push_back(mode.name);
    return names;
}

std::string_view help_of_modes() {
    static const std::string help = [] {
        std::string text;
        for (const ViewModeText& mode : view_modes) {
            text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", mode.name, mode.help);
        }
        return text;
    }();
    return help;
}

}  // namespace

template <>
const std::vector<Field<Canvas>>& describe<Canvas>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Canvas>> fields{
        choice<Canvas>("mode", &Canvas::mode, names_of_modes(), view, help_of_modes()).in("Mode"),
        numbers<Canvas>("background", &Canvas::background, 0, 1, "", view, "background colour: red, green, blue")
            .in("Studio")
            .found_by("colour")
            .of_display(),
        choice<Canvas>("stereo", &Canvas::stereo, {"off", "side-by-side", "anaglyph"}, view,
                       "stereo for saved images and movies; side-by-side: left eye in the left half; anaglyph: for "
                       "red/cyan glasses (red on the left)")
            .in("Picture"),
        flag<Canvas>("transparent", &Canvas::transparent, view,
                     "transparent background: the image has an alpha channel")
            .in("Picture")
            .of_display(),
        integer<Canvas>("width", &Canvas::width, 1, 16384, "pixels", view, "image width")
            .soft(256, 8192)
            .in("Picture")
            .of_volume(),
        integer<Canvas>("height", &Canvas::height, 1, 16384, "pixels", view, "image height")
            .soft(256, 8192)
            .in("Picture")
            .of_volume(),
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

// Compares what describe() does not list: the content of files and the frame number.
static bool has_same_files(const View& a, const View& b) {
    return a.transfer_curve == b.transfer_curve && a.own_preset == b.own_preset && a.frame == b.frame &&
           a.sky_read == b.sky_read && has_same_voxels(a, b);
}

bool is_same(const View& a, const View& b) {
    return has_same_files(a, b) && std::ranges::all_of(describe<View>(), [&](const Field<View>& field) {
               return field.name == "frame_ms" || field.is_same(a, b);
           });
}

bool has_same_paths(const View& a, const View& b) {
    // Paths hit the lines of the box, and the background decides their colour.
    const bool has_same_lines = a.box == b.box && (!a.box || has_dark_background(a) == has_dark_background(b));
    return has_same_lines && has_same_files(a, b) &&
           std::ranges::all_of(describe<View>(),
                               [&](const Field<View>& field) { return field.is_of_display || field.is_same(a, b); });
}

void check_part(const Canvas& canvas) {
    if (canvas.background.size() != 3) {
        throw Error(ErrorCode::bad_setting, "a colour has three numbers", "view.background", "e.g. [0, 0, 0]");
    }
    if (canvas.stereo == Stereo::side_by_side && canvas.width % 2 != 0) {
        throw Error(ErrorCode::bad_setting, "side-by-side stereo needs an even number of columns", "view.width",
                    "choose an even one, or view.stereo = anaglyph");
    }
}

void check_view(const View& view) {
    check(view, "view");
    check_combinations(view);
}

void check_combinations(const View& view) {
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
        throw Error(ErrorCode::bad_setting, "a panorama cannot be in stereo", "view.stereo, view.projection",
                    "choose view.stereo = off, or another projection");
    }
    if (view.stereo != Stereo::off && view.show != ViewContent::volume) {
        throw Error(ErrorCode::bad_setting, "a section cannot be shown in stereo", "view.stereo",
                    "show the volume (view.show), or choose view.stereo = off");
    }
}

// ---- Pose

template <>
const std::vector<Field<Pose>>& describe<Pose>() {
    constexpr Effect view = Effect::view;
    static const Fields<Pose> fields{
        choice<Pose>(
            "look", &Pose::look, {"free", "front", "back", "left", "right", "top", "bottom", "oblique"}, view,
            "named view direction that replaces the angles; front: A-scans to the right, depth down; top: en face; "
            "free: from the angles"),
        number<Pose>("azimuth_deg", &Pose::azimuth_deg, -3600, 3600, "deg", view,
                     "azimuth of the camera, to the right; 0: A-scans to the right, B-scans away from the camera")
            .soft(-180, 180)
            .in("Camera")
            .only_while("view.look", {"free"}),
        number<Pose>("elevation_deg", &Pose::elevation_deg, -3600, 3600, "deg", view,
                     "elevation of the camera; 0: depth points down, 90: en face")
            .soft(-90, 90)
            .only_while("view.look", {"free"}),
        number<Pose>("roll_deg", &Pose::roll_deg, -3600, 3600, "deg", view, "clockwise roll of the image")
            .soft(-180, 180)
            .only_while("view.look", {"free"}),
        flag<Pose>("fit", &Pose::fit, view,
                   "zoom 1 fits the volume in its present orientation, instead of in every orientation"),
        number<Pose>("zoom", &Pose::zoom, 0.01, 100, "", view,
                     "magnification; 1: the whole volume fits in every orientation (see fit)")
            .soft(0.1, 20),
        number<Pose>("distance", &Pose::distance, 0, 100, "", view,
                     "distance of the camera from the target; 1: the whole volume is visible, 0: the camera is at the "
                     "target; no effect on magnification in orthographic views")
            .soft(0, 3),
        numbers<Pose>("target_um", &Pose::target_um, -1e9, 1e9, "um", view,
                      "focal point of the camera: depth, A-scans, B-scans from the centre of the volume")
            .of_volume(),
        choice<Pose>("projection", &Pose::projection, {"perspective", "orthographic", "panorama"}, view,
                     "projection: perspective; orthographic, which preserves lengths; panorama: 360 by 180 degrees "
                     "around the camera (equirectangular), e.g. twice as wide as high, from distance 0"),
        number<Pose>("fov_deg", &Pose::fov_deg, 1, 120, "deg", view,
                     "field of view along the shorter side of the image at zoom 1, in perspective")
            .unless("view.projection", {"orthographic"}),
        number<Pose>("near_um", &Pose::near_um, 0, 1e9, "um", view,
                     "near clipping distance from the camera, e.g. inside the volume")
            .of_volume(),
        number<Pose>("eyes_apart", &Pose::eyes_apart, 0, 1, "", view,
                     "eye separation in stereo, as a fraction of the distance to the target: 1/30 is comfortable; the "
                     "target appears in the image plane")
            .soft(0, 0.1)
            .in("Picture")
            .unless("view.stereo", {"off"}),
    };
    return fields.list();
}

void check_part(const Pose& pose) {
    if (pose.target_um.size() != 3) {
        throw Error(ErrorCode::bad_setting, "a position has three numbers", "view.target_um", "e.g. [0, 0, 0]");
    }
}

// Azimuth, elevation, roll in degrees.
Angles angles_of(const Pose& pose) {
    switch (pose.look) {
        case Look::free: break;
        case Look::front: return {0, 0, 0};
        case Look::back: return {180, 0, 0};
        case Look::left: return {-90, 0, 0};
        case Look::right: return {90, 0, 0};
        case Look::top: return {0, 90, 0};
        case Look::bottom: return {0, -90, 0};
        case Look::oblique: return {35, 25, 0};
    }
    return {pose.azimuth_deg, pose.elevation_deg, pose.roll_deg};
}

// ---- Modes

template <>
const std::vector<Field<Modes>>& describe<Modes>() {
    constexpr Effect view = Effect::view;
    static const Fields<Modes> fields{
        number<Modes>("attenuation", &Modes::attenuation, 0, 1000, "", view,
                      "attenuated-mip: attenuation of distant samples, as the optical depth of a volume filled with "
                      "the value high; 0: mip")
            .soft(0, 40)
            .in("Mode")
            .only_while("view.mode", {"attenuated-mip"}),
        number<Modes>("mida_balance", &Modes::mida_balance, -1, 1, "", view,
                      "mida: -1: composite, 0: in between, 1: mip")
            .only_while("view.mode", {"mida"}),
        number<Modes>("point_size", &Modes::point_size, 0.1, 0.99, "voxels", view,
                      "points: diameter of the balls, scaled with the voxels")
            .only_while("view.mode", {"points"}),
    };
    return fields.list();
}

void check_part(const Modes&) {}

// ---- Light

template <>
const std::vector<Field<Light>>& describe<Light>() {
    constexpr Effect view = Effect::view;
    static const Fields<Light> fields{
        flag<Light>("lighting", &Light::lighting, view, "gradient shading").in("Light").found_by("shading light lamp"),
        number<Light>("lighting_strength", &Light::lighting_strength, 0, 1, "", view,
                      "strength of the shading; 0: flat colours")
            .only_while("view.lighting", {"true"}),
        choice<Light>("lamp", &Light::lamp, {"headlight", "free"}, view,
                      "headlight: at the camera; free: distant light in the direction of lamp_azimuth_deg and "
                      "lamp_elevation_deg"),
        number<Light>("lamp_azimuth_deg", &Light::lamp_azimuth_deg, -3600, 3600, "deg", view,
                      "azimuth of the free lamp, to the right of the camera")
            .soft(-180, 180)
            .only_while("view.lamp", {"free"}),
        number<Light>("lamp_elevation_deg", &Light::lamp_elevation_deg, -3600, 3600, "deg", view,
                      "elevation of the free lamp, above the camera")
            .soft(-90, 90)
            .only_while("view.lamp", {"free"}),
        number<Light>(
            "gradient_radius", &Light::gradient_radius, 0.25, 16, "voxels", view,
            "distance on either side for computing the gradient; larger values are smoother but lose fine detail"),
        number<Light>("ambient_occlusion", &Light::ambient_occlusion, 0, 1, "", view,
                      "strength of ambient occlusion, which darkens pits and gaps"),
        number<Light>("shadows", &Light::shadows, 0, 1, "", view,
                      "darkness of the free lamp's soft shadows; those of a headlight are never visible")
            .only_while("view.lamp", {"free"}),
    };
    return fields.list();
}

// Shadows of a headlight are never visible from the eye.
void check_part(const Light& light) {
    if (light.shadows == 0 || light.lamp == Lamp::free) return;
    throw Error(ErrorCode::bad_setting, "the shadows of a headlight are hidden behind the structures that cast them",
                "view.shadows", "set view.lamp = \"free\", or turn the shadows off");
}

// ---- Cut

constexpr std::size_t max_planes = 6;

// Requires three numbers per corner and a box that is not empty.
static void check_box(const Cut& cut) {
    constexpr const char* keys = "view.clip_low, view.clip_high";
    if (cut.clip_low.size() != 3 || cut.clip_high.size() != 3) {
        throw Error(ErrorCode::bad_setting, "a corner of the clip box has three numbers", keys, "e.g. [0, 0.25, 0.5]");
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (cut.clip_low[axis] < cut.clip_high[axis]) continue;
        throw Error(ErrorCode::bad_setting, "the clip box is empty: clip_low is not below clip_high", keys,
                    "swap them");
    }
}

template <>
const std::vector<Field<Cut>>& describe<Cut>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Cut>> fields{
        numbers<Cut>("clip_low", &Cut::clip_low, 0, 1, "", view,
                     "start of the clip box, as fractions along depth, A-scans, B-scans")
            .found_by("crop cut box")
            .of_volume(),
        numbers<Cut>("clip_high", &Cut::clip_high, 0, 1, "", view, "end of the clip box")
            .found_by("crop cut box")
            .of_volume(),
        numbers<Cut>("clip_planes", &Cut::clip_planes, -1e9, 1e9, "", view,
                     "up to six clip planes, four numbers each: normal (depth, A-scans, B-scans), and offset along it "
                     "in um from the centre of the volume; beyond a plane nothing is shown")
            .of_volume(),
        text<Cut>("top_from", &Cut::top_from, view,
                  "reference of top_um: \"\" zero delay, surface (found in the volume), or a height map (.csv or a "
                  "volume file)")
            .file()
            .in("Clip")
            .found_by("peel surface flatten"),
        number<Cut>("top_um", &Cut::top_um, above_all_um, below_all_um, "um", view,
                    "depth above which nothing is shown; all (-1e9): no limit, or no offset from top_from")
            .special(-1e9, "all")
            .in("Clip"),
        text<Cut>("bottom_from", &Cut::bottom_from, view, "reference of bottom_um, as for top_from").file().in("Clip"),
        number<Cut>("bottom_um", &Cut::bottom_um, above_all_um, below_all_um, "um", view,
                    "depth below which nothing is shown; all (1e9): no limit, or no offset")
            .special(1e9, "all")
            .in("Clip"),
        flag<Cut>("heights_cut", &Cut::heights_cut, view,
                  "clip the volume at top and bottom; false: their settings are kept, but not applied"),
        text<Cut>("flatten", &Cut::flatten, view,
                  "surface to flatten by shifting A-scans: surface, or a height map; \"\": as recorded")
            .file(),
    };
    return fields;
}

void check_part(const Cut& cut) {
    check_box(cut);
    check_planes(cut.clip_planes, max_planes, "view.clip_planes");
    if (cut.top_from == cut.bottom_from && cut.top_um >= cut.bottom_um) {
        throw Error(ErrorCode::bad_setting, "the top is not above the bottom", "view.top_um, view.bottom_um",
                    "swap them, or remove one");
    }
}

// ---- Planes

constexpr std::size_t numbers_each = 4;

glm::dvec4 Plane::in_texture(const glm::dvec3& extent) const {
    return {normal * extent, offset + 0.5 * glm::dot(normal, extent)};
}

std::vector<Plane> planes_of(const std::vector<double>& numbers) {
    std::vector<Plane> planes;
    for (std::size_t i = 0; i + numbers_each <= numbers.size(); i += numbers_each) {
        const glm::dvec3 normal(numbers[i], numbers[i + 1], numbers[i + 2]);
        planes.push_back({glm::normalize(normal), numbers[i + 3]});
    }
    return planes;
}

void check_planes(std::span<const double> numbers, std::size_t most, std::string_view key) {
    if (numbers.size() % numbers_each != 0) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("a plane has four numbers, got {}, not a multiple of four", numbers.size()),
                    std::string(key),
                    "use a normal (depth, A-scans, B-scans) and an offset in um, e.g. [0, 0, 1, 200]");
    }
    if (numbers.size() > most * numbers_each) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("{} are too many, at most {} are possible",
                                plural(numbers.size() / numbers_each, "planes"), most),
                    std::string(key), "remove some");
    }
    for (std::size_t i = 0; i < numbers.size(); i += numbers_each) {
        if (glm::length(glm::dvec3(numbers[i], numbers[i + 1], numbers[i + 2])) > 0) continue;
        throw Error(ErrorCode::bad_setting, "a plane's normal cannot be zero", std::string(key),
                    "e.g. [1, 0, 0, 0] for a plane across the depth");
    }
}

// ---- Slices

constexpr std::size_t max_slices = 4;

template <>
const std::vector<Field<Slices>>& describe<Slices>() {
    constexpr Effect view = Effect::view;
    constexpr double far = 1e9;
    static const Fields<Slices> fields{
        numbers<Slices>("slices", &Slices::slices, -far, far, "", view,
                        "up to four opaque slices of the volume, four numbers each: normal (depth, A-scans, B-scans), "
                        "and offset along it in um from the centre of the volume")
            .of_volume(),
        flag<Slices>("slices_cut", &Slices::slices_cut, view,
                     "clip slices like the volume; false: they extend through the whole volume")
            .in("Slices"),
        number<Slices>("planes_opacity", &Slices::planes_opacity, 0, 1, "", view,
                       "opacity of B-scans shown as planes in space (protocols cross and four_slices)"),
        choice<Slices>("slice_colours", &Slices::slice_colours, {"gray", "curve"}, view,
                       "colours of slices, planes and sections: gray from low to high, or those of the volume; linear "
                       "reflectivities always have those of the volume"),
        choice<Slices>("show", &Slices::show, {"volume", "slice", "en-face"}, view,
                       "volume: 3-D rendering; slice: a section or slab; en-face: projection between top and bottom. "
                       "Sections show the mean if mode is composite"),
        choice<Slices>(
            "plane", &Slices::plane, {"b-scan", "en-face", "side", "oblique"}, view,
            "plane of the section: perpendicular to the B-scan axis, the depth, the A-scan axis, or plane_normal")
            .only_while("view.show", {"slice"}),
        numbers<Slices>("plane_normal", &Slices::plane_normal, -far, far, "", view,
                        "normal of an oblique section (depth, A-scans, B-scans), pointing away from the camera")
            .only_while("view.plane", {"oblique"}),
        number<Slices>("plane_offset_um", &Slices::plane_offset_um, -far, far, "um", view,
                       "position of the section along its normal, from the centre of the volume")
            .only_while("view.show", {"slice"})
            .of_volume(),
        flag<Slices>("plane_from_behind", &Slices::plane_from_behind, view,
                     "show the section from its other side, mirrored; roll_deg rotates it")
            .only_while("view.show", {"slice", "en-face"})
            .found_by("flip mirror"),
        number<Slices>("slab_um", &Slices::slab_um, 0, far, "um", view, "thickness of the section; 0: one sample")
            .special(0, "one sample")
            .found_by("thickness thick mip"),
    };
    return fields.list();
}

void check_part(const Slices& slices) {
    check_planes(slices.slices, max_slices, "view.slices");
    if (slices.plane_normal.size() != 3) {
        throw Error(ErrorCode::bad_setting, "a normal has three numbers", "view.plane_normal", "e.g. [0, 1, 1]");
    }
    const std::vector<double>& normal = slices.plane_normal;
    const std::array<double, 4> plane{normal[0], normal[1], normal[2], slices.plane_offset_um};
    check_planes(plane, 1, "view.plane_normal");
}

// ---- Flow

template <>
const std::vector<Field<FlowOverlay>>& describe<FlowOverlay>() {
    constexpr Effect view = Effect::view;
    constexpr double max = 1e9;
    static const std::vector<std::string> maps = asset_names(colour_map_files, "flow");
    static const Field<FlowOverlay> flow_maps = [] {
        Field<FlowOverlay> field =
            text<FlowOverlay>("flow_colour_map", &FlowOverlay::flow_colour_map, view,
                              "colour map of flow: its centre shows rest, its upper end flow away from zero delay");
        field.choices.assign(maps.begin(), maps.end());
        return std::move(field).in("Flow").found_by("doppler velocity palette lut");
    }();
    static const std::vector<Field<FlowOverlay>> fields{
        choice<FlowOverlay>("flow_shown", &FlowOverlay::flow_shown, {"overlay", "under", "alone", "hidden"}, view,
                            "overlay: in colour over the structure; under: only where the structure is dark; alone: "
                            "without the structure; hidden: only the structure")
            .in("Flow"),
        number<FlowOverlay>("flow_threshold", &FlowOverlay::flow_threshold, -1, max, "speed", view,
                            "min speed shown, in the unit of the flow (mm/s); -1: a tenth of the 99.5th percentile of "
                            "speed, regardless of the range")
            .special(-1, "auto")
            .in("Flow")
            .found_by("doppler velocity noise hide"),
        number<FlowOverlay>(
            "flow_range", &FlowOverlay::flow_range, 0, max, "speed", view,
            "speed at the ends of the colour map, in the unit of the flow; 0: rounded 99.5th percentile of speed")
            .special(0, "auto")
            .in("Flow")
            .found_by("doppler velocity speed colour scale"),
        flow_maps,
        number<FlowOverlay>("flow_opacity", &FlowOverlay::flow_opacity, 0, 1, "", view,
                            "opacity of flow over the structure")
            .in("Flow"),
        number<FlowOverlay>("flow_v_max", &FlowOverlay::flow_v_max, 0, max, "mm/s", view,
                            "axial velocity at a phase of pi, if flow is stored as phasors; 0: from the file, "
                            "otherwise velocities are in rad")
            .special(0, "auto")
            .soft(0, 50),
    };
    return fields;
}

void check_part(const FlowOverlay& flow) {
    if (flow.flow_colour_map != "flow") colour_map(flow.flow_colour_map);
    if (flow.flow_range == 0 || flow.flow_threshold < flow.flow_range) return;
    throw Error(ErrorCode::bad_setting, "the threshold hides the whole range", "view.flow_threshold, view.flow_range",
                "lower the threshold or raise the range");
}

// ---- Channels

template <>
const std::vector<Field<TissueLabel>>& describe<TissueLabel>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<TissueLabel>> fields{
        integer<TissueLabel>("id", &TissueLabel::id, 1, max_label, "", view, "number of the label's voxels"),
        text<TissueLabel>("name", &TissueLabel::name, view, "name in the legend"),
        numbers<TissueLabel>("colour", &TissueLabel::colour, 0, 1, "", view, "red, green, blue"),
        number<TissueLabel>("extinction", &TissueLabel::extinction, 0, 1e6, "", view,
                            "extinction per depth of the volume; 0: hidden"),
    };
    return fields;
}

template <>
const std::vector<Field<Channel>>& describe<Channel>() {
    constexpr Effect view = Effect::view;
    static const std::vector<std::string> maps = asset_names(colour_map_files, "preset");
    static const Field<Channel> colours = [] {
        Field<Channel> field = text<Channel>("colour_map", &Channel::colour_map, view,
                                             "colour map that replaces the colours of the channel's curve");
        field.choices.assign(maps.begin(), maps.end());
        return field;
    }();
    static const std::vector<Field<Channel>> fields{
        text<Channel>("file", &Channel::file, view, "volume with the same grid, shown as an overlay; \"\": none")
            .file(),
        flag<Channel>("shown", &Channel::shown, view, "the channel is visible"),
        text<Channel>(
            "curve", &Channel::curve, view,
            "a preset, or a file of a transfer function; labels, or a file of labels: voxels are label numbers")
            .file({".toml", ".json"}),
        colours,
        number<Channel>("low", &Channel::low, lowest_value, highest_value, "value", view,
                        "lower end of the channel's window; auto (-1e12): as view.low")
            .special(-1e12, "auto"),
        number<Channel>("high", &Channel::high, lowest_value, highest_value, "value", view,
                        "upper end of the channel's window; auto (1e12): as view.high")
            .special(1e12, "auto"),
        number<Channel>("opacity", &Channel::opacity, 0, 1000, "", view,
                        "factor on the channel's extinction; below 1 also on its opacity in sections and projections")
            .soft(0.01, 100),
        choice<Channel>("mode", &Channel::mode, {"view", "mip"}, view,
                        "view: rendered in view.mode; mip: its maximum along each ray, over the image"),
        choice<Channel>("blend", &Channel::blend, {"add", "over"}, view,
                        "add: extinctions are added; over: replaces the channels before it"),
    };
    return fields;
}

std::string channel_key(std::size_t place, std::string_view name) {
    return fmt::format("channel_{}_{}", place + 2, name);
}

template <>
const std::vector<Field<Channels>>& describe<Channels>() {
    static std::deque<std::string> names;  // owns the names that fields point to
    static const std::vector<Field<Channels>> fields = [] {
        std::vector<Field<Channels>> all{
            flag<Channels>("channel_1_shown", &Channels::channel_1_shown, Effect::view,
                           "show the volume itself, the first channel; false: only the others")};
        for (std::size_t i = 0; i + 1 < max_channels; ++i) {
            for (const Field<Channel>& field : describe<Channel>()) {
                Field<Channels> numbered{field, {}, {}, {}};
                numbered.name = names.emplace_back(channel_key(i, field.name));
                numbered.get = [i, get = field.get](const Channels& of) { return get(of.channels[i]); };
                numbered.set = [i, set = field.set](Channels& of, const Value& value) { set(of.channels[i], value); };
                numbered.is_same = [i, is_same = field.is_same](const Channels& a, const Channels& b) {
                    return is_same(a.channels[i], b.channels[i]);
                };
                all.push_back(std::move(numbered));
            }
        }
        return all;
    }();
    return fields;
}

// Hues at multiples of the golden ratio, so that successive labels differ strongly.
static std::vector<double> colour_of_label(std::int64_t id) {
    const double turn = 6 * std::fmod(0.08 + 0.61803398875 * static_cast<double>(id), 1.0);
    const auto part = [turn](double at) {
        const double off = std::abs(std::fmod(turn + at, 6.0) - 3);
        return 0.35 + 0.6 * std::clamp(off - 1, 0.0, 1.0);
    };
    return {part(0), part(4), part(2)};
}

// For error messages.
static std::string size_of(const VolumeGrid& grid) {
    return fmt::format("{} x {} x {} voxels", grid.depth, grid.a_scans, grid.b_scans);
}

// An unknown spacing (0) matches any other.
static bool is_as_far_apart(double a, double b) {
    constexpr double tolerance = 1e-3;  // relative, because files contain rounded values
    return a <= 0 || b <= 0 || std::abs(a - b) <= tolerance * std::max(a, b);
}

// The curve of a channel must be a preset or have been read from its file.
static void check_curve(const Channel& channel, std::size_t place) {
    const bool is_known = channel.own_curve || channel.labels || is_shipped_preset(channel.curve);
    if (is_known || channel.file.empty()) return;
    throw Error(ErrorCode::bad_setting, fmt::format("\"{}\" is not a preset, and no file was read", channel.curve),
                "view." + channel_key(place, "curve"),
                "name a preset, \"labels\", or a file of a transfer function or of labels");
}

bool names_file(const Channel& channel) {
    return channel.curve.find_first_of("/.") != std::string::npos;
}

std::vector<TissueLabel> labels_of(const Channel& channel) {
    if (channel.labels && !channel.labels->empty()) return *channel.labels;
    std::vector<TissueLabel> all;
    for (std::int64_t id = 1; id <= max_label; ++id) {
        all.push_back({.id = id, .name = fmt::format("{}", id), .colour = colour_of_label(id)});
    }
    return all;
}

const Channel* in_place_of_volume(const Channels& channels) {
    if (channels.channel_1_shown) return nullptr;
    const auto found = std::ranges::find_if(
        channels.channels, [](const Channel& channel) { return channel.is_seen() && !channel.labels; });
    return found == channels.channels.end() ? nullptr : &*found;
}

bool has_same_voxels(const Channels& a, const Channels& b) {
    return std::ranges::equal(a.channels, b.channels, [](const Channel& one, const Channel& other) {
        return one.volume == other.volume && one.own_curve == other.own_curve && one.labels == other.labels;
    });
}

void check_part(const Channels& channels) {
    for (std::size_t i = 0; i < channels.channels.size(); ++i) {
        const Channel& channel = channels.channels[i];
        const auto key = [i](std::string_view name) { return "view." + channel_key(i, name); };
        if (!channel.file.empty() && !channel.volume) {
            throw Error(ErrorCode::bad_setting, "the file has not been read", key("file"),
                        "read it with load_channels");
        }
        if (channel.colour_map != "preset") colour_map(channel.colour_map);
        check_curve(channel, i);
        if (channel.low < channel.high) continue;
        throw Error(ErrorCode::bad_setting, "low is not below high", key("low") + ", " + key("high"),
                    "swap them, or remove one for automatic");
    }
}

void check_channels(const Channels& channels, const VolumeGrid& grid, const std::string& name) {
    for (std::size_t i = 0; i < channels.channels.size(); ++i) {
        const Channel& channel = channels.channels[i];
        if (!channel.volume) continue;
        const VolumeGrid& own = channel.volume->grid;
        const std::string where = fmt::format("{} (view.{})", channel.file, channel_key(i, "file"));
        if (own.depth != grid.depth || own.a_scans != grid.a_scans || own.b_scans != grid.b_scans) {
            throw Error(ErrorCode::bad_setting,
                        fmt::format("its {} do not fit the {} of {}", size_of(own), size_of(grid), name), where,
                        "reconstruct both from the same scan, with the same depth range");
        }
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (is_as_far_apart(own.spacing_um[axis], grid.spacing_um[axis])) continue;
            throw Error(ErrorCode::bad_setting,
                        fmt::format("its voxels are {:g} um apart, those of {} {:g} um", own.spacing_um[axis], name,
                                    grid.spacing_um[axis]),
                        where, "reconstruct both from the same scan, or correct the spacing of one");
        }
    }
}

// ---- Annotations

// Throws Error{bad_setting} unless the length of `numbers` is a multiple of `size`.
static void check_groups(const std::vector<double>& numbers, std::size_t size, const char* key, const char* remedy) {
    if (numbers.size() % size == 0) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("{}, not a multiple of {}", plural(numbers.size(), "numbers"), size), key, remedy);
}

// Annotations are drawn over the traced light.
static std::vector<Field<Annotations>> drawn_over(std::vector<Field<Annotations>> fields) {
    for (Field<Annotations>& field : fields) field.is_of_display = true;
    return fields;
}

// Requires positive speeds, and a pulse with ascending times and speeds of 0 or more.
static void check_streaks(const Annotations& annotations) {
    const std::vector<double>&streaks = annotations.flow_streaks, &pulse = annotations.streak_pulse;
    check_groups(streaks, 5, "view.flow_streaks", "five numbers per point: vessel, depth, A-scan, B-scan, mm/s");
    check_groups(pulse, 2, "view.streak_pulse", "two numbers per time: seconds, speed relative to its mean");
    for (std::size_t i = 4; i < streaks.size(); i += 5) {
        if (streaks[i] > 0) continue;
        throw Error(ErrorCode::bad_setting, fmt::format("blood with a speed of {:g} mm/s has no streaks", streaks[i]),
                    "view.flow_streaks", "list points in the direction of flow, with speeds above 0");
    }
    for (std::size_t i = 0; i < pulse.size(); i += 2) {
        if ((i == 0 || pulse[i] > pulse[i - 2]) && pulse[i + 1] >= 0) continue;
        throw Error(ErrorCode::bad_setting,
                    fmt::format("{:g} s, {:g} is out of order or runs backwards", pulse[i], pulse[i + 1]),
                    "view.streak_pulse", "use ascending times, and speeds of 0 or more");
    }
}

template <>
const std::vector<Field<Annotations>>& describe<Annotations>() {
    using A = Annotations;
    constexpr Effect view = Effect::view;
    static const std::vector<Field<A>> fields = drawn_over({
        flag<A>("box", &A::box, view, "bounding box of the volume").in("Annotations"),
        flag<A>("scale_bar", &A::scale_bar, view,
                "scale bar of a round length, exact at the distance of the target in perspective")
            .in("Annotations")
            .found_by("ruler size length"),
        flag<A>("axes", &A::axes, view, "axes of depth, A-scans and B-scans").in("Annotations"),
        flag<A>("colour_bar", &A::colour_bar, view, "colour bar with values")
            .in("Annotations")
            .found_by("legend scale"),
        flag<A>("depth_ruler", &A::depth_ruler, view, "depth ruler along an edge of the volume").in("Annotations"),
        flag<A>("time_stamp", &A::time_stamp, view, "time_s in the upper left corner").in("Annotations"),
        number<A>("time_s", &A::time_s, -1e12, 1e12, "s", view, "time shown by the time stamp")
            .soft(0, 60)
            .in("Annotations")
            .only_while("view.time_stamp", {"true"})
            .of_volume(),
        number<A>("time_rate", &A::time_rate, 0, 1e9, "", view,
                  "speed shown after the time stamp: 0.4 reads 0.4x; 0: none")
            .only_while("view.time_stamp", {"true"}),
        text<A>("text", &A::text, view, "text over the image (UTF-8)").in("Annotations").of_volume(),
        numbers<A>("text_at", &A::text_at, 0, 1, "", view,
                   "position of the text, as fractions of the image from left and top; 0.5, 0: centred at the top")
            .in("Annotations")
            .unless("view.text", {""}),
        numbers<A>("distances", &A::distances, -1e9, 1e9, "um", view,
                   "distances to measure and draw, six numbers each: start and end (depth, A-scans, B-scans) from the "
                   "centre of the first voxel")
            .of_volume(),
        numbers<A>(
            "angles", &A::angles, -1e9, 1e9, "um", view,
            "angles to measure and draw, nine numbers each: a point on one leg, the vertex, a point on the other leg")
            .of_volume(),
        numbers<A>("flow_arrows", &A::flow_arrows, -1e9, 1e9, "um", view,
                   "arrows in the direction of flow, six numbers each, like distances: from and to")
            .of_volume(),
        numbers<A>("flow_streaks", &A::flow_streaks, -1e9, 1e9, "", view,
                   "vessel centrelines along which streaks move with the blood, five numbers per point: vessel number, "
                   "depth, A-scan and B-scan in um (like distances), and speed in mm/s")
            .of_volume(),
        numbers<A>("streak_pulse", &A::streak_pulse, -1e9, 1e9, "", view,
                   "blood speed over time, two numbers per time: seconds, and speed relative to its mean; repeats "
                   "after the last; []: constant")
            .of_volume(),
        number<A>("streak_time_s", &A::streak_time_s, -1e9, 1e9, "s", view,
                  "time at which streaks are drawn; movies, series and live displays continue from it")
            .soft(0, 10)
            .of_volume(),
        number<A>("streak_pace", &A::streak_pace, 0, 10, "", view,
                  "speed of streaks relative to the blood; 0: they do not move")
            .soft(0, 1)
            .in("Streaks")
            .unless("view.flow_streaks", {"[]"}),
        number<A>("streak_s", &A::streak_s, 0, 10, "s", view,
                  "length of streaks, as the path of blood in this time; 0: about six streaks per vessel")
            .special(0, "auto")
            .soft(0, 0.1)
            .in("Streaks")
            .unless("view.flow_streaks", {"[]"}),
        number<A>("text_size", &A::text_size, 0.005, 0.2, "", view,
                  "text height, as a fraction of the shorter side of the image")
            .soft(0.01, 0.1)
            .in("Annotations"),
        numbers<A>("text_colour", &A::text_colour, 0, 1, "", view,
                   "colour of text and lines: red, green, blue; []: black or white, depending on the background")
            .in("Annotations"),
    });
    return fields;
}

// Lists of points are flat, so their lengths are checked here.
void check_part(const Annotations& annotations) {
    check_groups(annotations.distances, 6, "view.distances", "six numbers for each distance: from and to");
    check_groups(annotations.angles, 9, "view.angles", "nine numbers for each angle: leg, vertex, leg");
    check_groups(annotations.flow_arrows, 6, "view.flow_arrows", "six numbers for each arrow: from and to");
    check_streaks(annotations);
    if (annotations.text_at.size() != 2) {
        throw Error(ErrorCode::bad_setting, "a position in the image has two numbers", "view.text_at", "e.g. [0.5, 0]");
    }
    if (annotations.text_colour.size() != 3 && !annotations.text_colour.empty()) {
        throw Error(ErrorCode::bad_setting, "a colour has three numbers", "view.text_colour",
                    "e.g. [1, 1, 1], or [] for automatic");
    }
}

// ---- Sampling

template <>
const std::vector<Field<Sampling>>& describe<Sampling>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Sampling>> fields{
        number<Sampling>("step", &Sampling::step, 0.05, 10, "voxels", view,
                         "ray step in units of the smallest voxel edge; smaller is finer and slower")
            .soft(0.1, 4)
            .in("Quality"),
        flag<Sampling>("skip_empty", &Sampling::skip_empty, view, "skip empty space; does not change the image")
            .in("Quality"),
        flag<Sampling>("end_early", &Sampling::end_early, view, "end a ray when less than 0.2 % of the light passes")
            .in("Quality"),
        flag<Sampling>("adaptive", &Sampling::adaptive, view, "take longer steps where little is visible")
            .in("Quality"),
        integer<Sampling>(
            "samples", &Sampling::samples, 1, 4096, "rays", view,
            "anti-aliasing samples per pixel of a saved image; 16 removes jagged edges and slicing artefacts")
            .soft(1, 64)
            .in("Picture"),
        integer<Sampling>("rest_samples", &Sampling::rest_samples, 1, 4096, "rays", view,
                          "anti-aliasing samples per pixel in the window while the view is at rest")
            .soft(1, 256)
            .in("Quality"),
        number<Sampling>("frame_ms", &Sampling::frame_ms, 0.1, 1000, "ms", view,
                         "max frame time in the window while the view moves; the resolution is lowered to keep it")
            .soft(5, 200)
            .in("Quality")
            .of_display(),
    };
    return fields;
}

void check_part(const Sampling&) {}

// ---- Tracing

template <>
const std::vector<Field<Tracing>>& describe<Tracing>() {
    constexpr Effect view = Effect::view;
    static const auto fields =
        Fields<Tracing>{
            integer<Tracing>("paths", &Tracing::paths, 1, 1'000'000, "paths", view,
                             "path tracing: max paths per pixel; four times as many halve the noise")
                .soft(16, 4096)
                .in("Mode")
                .of_display(),
            integer<Tracing>("bounces", &Tracing::bounces, 0, 65536, "", view,
                             "path tracing: max number of scattering events; fewer are faster and darker; 0: no limit")
                .soft(1, 64)
                .in("Traced light"),
            number<Tracing>(
                "scattering", &Tracing::scattering, 0, 1, "", view,
                "path tracing: albedo of white tissue, the fraction of light that it scatters instead of absorbing"),
            number<Tracing>("anisotropy", &Tracing::anisotropy, -0.99, 0.99, "", view,
                            "path tracing: anisotropy g, the mean cosine of the scattering angle; 0: isotropic, "
                            "towards 1: forward"),
            number<Tracing>("roughness", &Tracing::roughness, 0.05, 1, "", view,
                            "path tracing: roughness of surfaces; 0.05: polished, 1: matt"),
            number<Tracing>(
                "sky", &Tracing::sky, 0, 1000, "", view,
                "path tracing: brightness of the ambient light (sky); a white surface under a sky of 1 is white")
                .soft(0, 4)
                .in("Lights"),
            number<Tracing>("lamp_brightness", &Tracing::lamp_brightness, 0, 1000, "", view,
                            "path tracing: brightness of the lamp, as that of a white surface facing it")
                .soft(0, 10),
            number<Tracing>("lamp_size_deg", &Tracing::lamp_size_deg, 0, 90, "deg", view,
                            "path tracing: angular radius of the lamp; larger lamps cast softer shadows")
                .soft(0, 45)
                .only_while("view.lights", {"lamp"}),
            number<Tracing>("exposure_ev", &Tracing::exposure_ev, -20, 20, "EV", view,
                            "path tracing: exposure; one more doubles the light")
                .soft(-4, 4)
                .in("Traced light")
                .of_display(),
            choice<Tracing>("tone", &Tracing::tone, {"linear", "reinhard", "filmic"}, view,
                            "path tracing: tone curve; linear: light above white is clipped; reinhard, filmic: "
                            "compressed up to the white point")
                .of_display(),
            number<Tracing>("white_point", &Tracing::white_point, 1, 1000, "", view, "white point of the tone curve")
                .soft(1, 16)
                .of_display(),
            integer<Tracing>("seed", &Tracing::seed, 0, 4294967295, "", view,
                             "path tracing: seed of the random paths; the same seed gives the same image"),
            flag<Tracing>("denoise", &Tracing::denoise, view,
                          "path tracing: edge-preserving denoising with fewer than 1024 paths")
                .of_display(),
            number<Tracing>("noise_target", &Tracing::noise_target, 0, 255, "", view,
                            "path tracing: noise at which rendering stops early, in 8-bit levels; 0: never")
                .soft(0.5, 8)
                .of_display(),
            number<Tracing>("aperture_um", &Tracing::aperture_um, 0, 1e9, "um", view,
                            "path tracing: lens diameter for depth of field; larger lenses blur more outside the "
                            "focus; 0: everything is sharp")
                .soft(0, 2000),
            number<Tracing>("focus_um", &Tracing::focus_um, -1e9, 1e9, "um", view,
                            "path tracing: distance of the focus behind the target; negative: in front of it")
                .soft(-2000, 2000),
            flag<Tracing>("isosurface", &Tracing::isosurface, view,
                          "path tracing: voxels that reach view.isovalue form an opaque solid within the volume; "
                          "view.opacity = 0: only the solid")
                .in("Mode"),
            choice<Tracing>(
                "lights", &Tracing::lights, {"lamp", "headlight", "three-point", "dissection-microscope", "own"}, view,
                "path tracing: lights in addition to the sky: lamp: as set in view.lamp; headlight: a disc around the "
                "camera; three-point: key, fill and back light; dissection-microscope: two goosenecks and a disc "
                "around the camera; own: view.area_lights, if any. All except lamp turn with the camera")
                .in("Lights"),
            numbers<Tracing>("area_lights", &Tracing::area_lights, -1e6, 1e6, "", view,
                             "path tracing: up to six area lights, eight numbers each: degrees to the right of the "
                             "camera and above it; distance from the centre of the volume, width and height in units "
                             "of half the volume's diagonal (height 0: a disc); red, green, blue: brightness of a "
                             "white surface at the centre facing the light, times view.lamp_brightness")
                .only_while("view.lights", {"own"}),
        }
            .only_while("view.mode", {"traced"});
    return fields.list();
}

// Lights outside the volume only, with a minimal size: sampling them requires a finite distance and area.
void check_part(const Tracing& tracing) {
    constexpr const char* key = "view.area_lights";
    constexpr double max_distance = 1e6, min_size = 0.001;
    const std::vector<double>& numbers = tracing.area_lights;
    if (numbers.size() % area_light_numbers != 0 || numbers.size() > max_area_lights * area_light_numbers) {
        throw Error(ErrorCode::bad_setting, "up to six lights have eight numbers each", key,
                    "list direction (2), distance, width, height, and red, green, blue");
    }
    for (std::size_t i = 0; i < numbers.size(); i += area_light_numbers) {
        const double distance = numbers[i + 2], width = numbers[i + 3], height = numbers[i + 4];
        if (!(distance > 1 && distance <= max_distance)) {
            throw Error(ErrorCode::bad_setting, "a light is inside the volume, or too far away", key,
                        "set its distance above 1, half of the volume's diagonal, and at most to 1e6");
        }
        if (!(width >= min_size) || (height != 0 && !(height >= min_size))) {
            throw Error(ErrorCode::bad_setting, "a light has no size", key,
                        "set its width, and a height other than 0, to 0.001 or more");
        }
        const auto colour = std::span(numbers).subspan(i + 5, 3);
        if (std::ranges::any_of(colour, [](double part) { return part < 0; })) {
            throw Error(ErrorCode::bad_setting, "a light has a negative colour", key, "set its colours to 0 or more");
        }
    }
}

// ---- Studio

// Colours are lists of three numbers; some may be empty for "none".
static void check_colour(const std::vector<double>& colour, bool may_be_empty, const char* key) {
    if (colour.size() == 3 || (may_be_empty && colour.empty())) return;
    throw Error(ErrorCode::bad_setting, "a colour has three numbers", key,
                may_be_empty ? "e.g. [0, 0, 0], or [] for none" : "e.g. [0, 0, 0]");
}

template <>
const std::vector<Field<Studio>>& describe<Studio>() {
    using S = Studio;
    constexpr Effect view = Effect::view;
    static const std::vector<Field<S>> fields{
        text<S>("sky_picture", &S::sky_picture, view,
                "path tracing: PNG file of an equirectangular panorama used as the sky, scaled by view.sky; its centre "
                "is the direction of the B-scan axis")
            .file({".png"})
            .in("Lights")
            .only_while("view.mode", {"traced"}),
        number<S>("sky_turn_deg", &S::sky_turn_deg, -3600, 3600, "deg", view,
                  "rotation of the sky image to the right around the volume")
            .soft(-180, 180)
            .in("Lights")
            .only_while("view.mode", {"traced"})
            .unless("view.sky_picture", {""}),
        numbers<S>("background_lower_colour", &S::background_lower_colour, 0, 1, "", view,
                   "background colour at the lower edge, as a gradient from view.background at the top; []: the same")
            .in("Studio")
            .of_display(),
        number<S>("ground_shadow", &S::ground_shadow, 0, 1, "", view,
                  "darkness of the shadow of the volume on the ground below it; 0: no ground")
            .in("Studio"),
        number<S>("ground_gap_um", &S::ground_gap_um, 0, 1e9, "um", view,
                  "distance of the ground below the volume, or below its clip_high depth")
            .soft(0, 1000)
            .in("Studio")
            .unless("view.ground_shadow", {"0"}),
        choice<S>("caps", &S::caps, {"off", "gray", "curve"}, view,
                  "caps on cut faces; off: the volume behind them is visible; gray, curve: a section in gray or in the "
                  "colours of the transfer function")
            .called("cut faces")
            .in("Clip"),
        number<S>("outline", &S::outline, 0, 1, "", view,
                  "strength of silhouette outlines; they need view.lighting and are not path traced")
            .in("Studio"),
        number<S>("outline_sharpness", &S::outline_sharpness, 0.5, 64, "", view,
                  "sharpness of the outlines; larger is thinner")
            .soft(1, 16)
            .in("Studio")
            .unless("view.outline", {"0"}),
        numbers<S>("outline_colour", &S::outline_colour, 0, 1, "", view, "colour of the outlines: red, green, blue")
            .in("Studio")
            .unless("view.outline", {"0"}),
        text<S>("title", &S::title, view, "title above the image, or in its frame (UTF-8)")
            .in("Annotations")
            .of_display(),
        number<S>("picture_frame", &S::picture_frame, 0, 0.2, "", view,
                  "width of a frame around the image, in the text colour, as a fraction of the shorter side; 0: none")
            .in("Annotations")
            .of_display(),
        number<S>(
            "shutter", &S::shutter, 0, 1, "", view,
            "motion blur: fraction of the frame interval during which the shutter is open; 0.5 is usual, 0: no blur")
            .in("Movie")
            .of_display(),
        integer<S>("shutter_pictures", &S::shutter_pictures, 2, 256, "", view,
                   "motion blur: images rendered while the shutter is open; path-traced images share the paths of one")
            .soft(4, 64)
            .in("Movie")
            .unless("view.shutter", {"0"})
            .of_display(),
    };
    return fields;
}

void check_part(const Studio& studio) {
    check_colour(studio.background_lower_colour, true, "view.background_lower_colour");
    check_colour(studio.outline_colour, false, "view.outline_colour");
    if (!studio.sky_picture.empty() && !studio.sky_read) {
        throw Error(ErrorCode::bad_setting, "the file has not been read", "view.sky_picture",
                    "read it with load_transfer");
    }
}

}  // namespace echolux
