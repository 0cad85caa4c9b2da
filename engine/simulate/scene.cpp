#include "engine/simulate/scene.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/scan/settings.h"
#include "engine/simulate/spectrometer.h"

namespace echolux {
namespace {

constexpr Effect effect = Effect::file;
constexpr double most_um = 1e5;

template <class S>
struct ListOf {
    std::vector<Field<S>>& fields;
    void operator()(std::string_view name, std::vector<double> S::*member, double low, double high,
                    std::string_view unit, std::string_view help) const {
        fields.push_back(numbers<S>(name, member, low, high, unit, effect, help));
    }
};

}  // namespace

template <>
const std::vector<Field<SceneWords>>& describe<SceneWords>() {
    using S = SceneWords;
    static const std::vector<Field<S>> fields{
        text("title", &S::title, effect, "a word"),
        text("text", &S::text, effect, "one-line description"),
        number("refractive_index", &S::refractive_index, 1, 3, "", effect, "of everything below zero delay"),
        number("spacing_a_um", &S::spacing_a_um, 0.01, 1e4, "um", effect, "distance between A-scans"),
        flag("relief", &S::relief, effect, "apply simulation.relief (tilt, bow, wave)"),
        flag("pulsating", &S::pulsating, effect, "flow with the heart's beat"),
        flag("mirrors", &S::mirrors, effect, "the reflectors of simulation.mirror_um"),
        text("live", &S::live, effect,
             "initial settings of a live source, separated by spaces: \"simulation.a_repeats=4 "
             "flow.method=doppler\""),
    };
    return fields;
}

template <>
const std::vector<Field<BoundaryLists>>& describe<BoundaryLists>() {
    using B = BoundaryLists;
    static const std::vector<Field<B>> all = [] {
        std::vector<Field<B>> fields;
        const ListOf<B> list{fields};
        list("depth", &B::depth, 0, 1, "",
             "depths in the middle of the field, from top to bottom, as fractions of the depth range");
        list("tilt", &B::tilt, -1, 1, "",
             "rise along a B-scan, and half as much across B-scans, as a fraction of the depth range");
        list("bow", &B::bow, -1, 1, "",
             "depth of the corners relative to the middle, as a fraction of the depth range");
        list("wave", &B::wave, -1, 1, "", "amplitude of a gentle ripple");
        list("pit", &B::pit, -1, 1, "", "depth of a foveal pit in the middle");
        list("pit_radius", &B::pit_radius, 0.001, 10, "", "1/e radius, as a fraction of the shorter side of the field");
        list("reflex", &B::reflex, 0, 100, "",
             "amplitude of a smooth reflecting surface, relative to simulation.brightness; it fades where it is "
             "inclined");
        return fields;
    }();
    return all;
}

template <>
const std::vector<Field<LumpLists>>& describe<LumpLists>() {
    using L = LumpLists;
    static const std::vector<Field<L>> all = [] {
        std::vector<Field<L>> fields;
        const ListOf<L> list{fields};
        list("x", &L::x, -1, 1, "", "distance of the top from the middle, as a fraction of the field's width");
        list("y", &L::y, -1, 1, "", "distance of the top from the middle, as a fraction of the field's length");
        list("radius_um", &L::radius_um, 0.1, most_um, "um", "1/e radius of the Gaussian rise");
        list("height_um", &L::height_um, -most_um, most_um, "um", "height of the rise towards the surface");
        list("first", &L::first, 1, 1000, "", "first boundary that is raised, counted from 1");
        list("last", &L::last, 1, 1000, "", "last boundary that is raised");
        return fields;
    }();
    return all;
}

template <>
const std::vector<Field<LayerLists>>& describe<LayerLists>() {
    using L = LayerLists;
    static const std::vector<Field<L>> all = [] {
        std::vector<Field<L>> fields;
        const ListOf<L> list{fields};
        list("brightness", &L::brightness, 0, 100, "", "amplitude relative to simulation.brightness");
        list("attenuation_per_mm", &L::attenuation_per_mm, 0, 1000, "", "attenuation of the amplitude, there and back");
        return fields;
    }();
    return all;
}

template <>
const std::vector<Field<TubeLists>>& describe<TubeLists>() {
    using T = TubeLists;
    static const std::vector<Field<T>> all = [] {
        std::vector<Field<T>> fields;
        const ListOf<T> list{fields};
        list("depth", &T::depth, 0, 1, "",
             "depth of the axis in the middle of the field, as a fraction of the depth range");
        list("x", &T::x, -1, 1, "", "distance of the axis from the middle, as a fraction of the field's width");
        list("swing", &T::swing, -1, 1, "", "amplitude by which the axis meanders, as a fraction of the width");
        list("period", &T::period, 0.01, 100, "", "period of the meander, as a fraction of the field's length");
        list("phase_rad", &T::phase_rad, -100, 100, "rad", "phase of the meander in the middle");
        list("descent", &T::descent, -10, 10, "", "slope of the axis: depth per length across the B-scans");
        list("bow", &T::bow, -1, 1, "",
             "twice the depth of the ends relative to the middle, as a fraction of the depth range");
        fields.push_back(flag("tilted", &T::tilted, effect, "use simulation.tilt_deg instead of descent"));
        list("radius", &T::radius, 0, 1, "", "radius of the lumen, as a fraction of the depth range");
        list("radius_of_width", &T::radius_of_width, 0, 1, "",
             "max radius, as a fraction of the width of the field; 0: none");
        list("radius_um", &T::radius_um, 0, most_um, "um",
             "radius of the lumen; replaces radius and radius_of_width if not 0");
        list("wall_um", &T::wall_um, 0, most_um, "um", "thickness of the wall");
        list("brightness", &T::brightness, 0, 100, "", "brightness of the blood, relative to simulation.brightness");
        list("wall_brightness", &T::wall_brightness, 0, 100, "", "brightness of the wall");
        list("attenuation_per_mm", &T::attenuation_per_mm, 0, 1000, "", "attenuation in addition to that of the layer");
        list("speed", &T::speed, -100, 100, "", "speed on the axis, relative to simulation.flow_mm_s");
        list("flow", &T::flow, -100, 100, "", "flow relative to simulation.flow_ul_s; replaces the speed if not 0");
        return fields;
    }();
    return all;
}

// Checks that each list has one number per item or one number for all.
template <class S>
static void check_lists(const S& lists, std::size_t count, const std::string& where) {
    for (const Field<S>& field : describe<S>()) {
        const Value value = field.get(lists);
        const auto* list = std::get_if<std::vector<double>>(&value);
        if (list == nullptr || list->size() == count || list->size() == 1) continue;
        throw Error(ErrorCode::bad_setting,
                    "has " + std::to_string(list->size()) + " numbers for " + std::to_string(count),
                    where + std::string(field.name), "specify one for all, or one for each");
    }
}

// Throws unless boundaries are sorted and all lists have matching lengths.
static void check_scene(const SceneFile& file, const std::string& where) {
    const std::vector<double>& depths = file.boundaries.depth;
    if (!std::ranges::is_sorted(depths)) {
        throw Error(ErrorCode::bad_setting, "is not in ascending order", where + ", boundaries.depth",
                    "name the boundaries from above");
    }
    const std::size_t layers = depths.empty() ? 0 : depths.size() - 1;
    if (!depths.empty()) check_lists(file.boundaries, depths.size(), where + ", boundaries.");
    if (layers > 0 || !file.layers.brightness.empty()) check_lists(file.layers, layers, where + ", layers.");
    if (!file.lumps.x.empty()) check_lists(file.lumps, file.lumps.x.size(), where + ", lumps.");
    if (!file.tubes.depth.empty()) check_lists(file.tubes, file.tubes.depth.size(), where + ", tubes.");
}

SceneFile scene_of(const Asset& asset) {
    const std::string where = asset.own.empty() ? asset.name : asset.own.string();
    SceneFile file;
    Settings settings;
    settings.bind("scene", file.scene);
    settings.bind("boundaries", file.boundaries);
    settings.bind("layers", file.layers);
    settings.bind("lumps", file.lumps);
    settings.bind("tubes", file.tubes);
    settings.take(toml_entries_of(scene_files, asset));
    check_scene(file, where);
    return file;
}

SceneFile scene_named(std::string_view name) {
    for (const Asset& asset : assets_of(scene_files)) {
        if (asset.name == name) return scene_of(asset);
    }
    throw Error(ErrorCode::bad_setting, "there is no scene '" + std::string(name) + "'", "simulation.scene",
                "`presets` lists them");
}

std::vector<SceneEntry> scene_entries() {
    std::vector<SceneEntry> scenes;
    for (const Asset& asset : assets_of(scene_files)) {
        try {
            const SceneWords words = scene_of(asset).scene;
            scenes.push_back({asset.name, words.title.empty() ? asset.name : words.title, words.text});
        } catch (const Error&) {  // reported where scenes are listed with their files
        }
    }
    return scenes;
}

using std::numbers::pi;

constexpr double min_form_um = 400;
// Deeper fringes would be undersampled where samples are coarsest in k.
constexpr double max_of_range = 0.9;

// Quadratic bow: zero at the centre, `bow_um` in the corners.
static double bowed(double bow_um, double u, double v) {
    return 2 * bow_um * (u * u + v * v);
}

// Returns the length of the intersection of [a, b] and [c, d].
static double overlap(double a, double b, double c, double d) {
    return std::max(0.0, std::min(b, d) - std::max(a, c));
}

static std::string micrometres(double length) {
    return std::to_string(std::lround(length)) + " um";
}

Scenery::Scenery(const Simulation& s, double depth_range_um)
    : width_um(field_size(s).x_um), length_um(field_size(s).y_um), deepest_um(max_of_range * depth_range_um),
      shown_to_um(deepest_um), form_width_um_(std::max(width_um, min_form_um)),
      form_length_um_(std::max(length_um, min_form_um)) {
    const auto [lines_x, lines_y] = field_lines(s);
    to_first_ = {(width_um - width_um / static_cast<double>(lines_x)) / 2,
                 (length_um - length_um / static_cast<double>(lines_y)) / 2};
    const SceneFile file = scene_named(s.scene);
    if (file.scene.mirrors) add_mirrors(s, depth_range_um);
    add_boundaries(file, s.relief, depth_range_um);
    add_lumps(file.lumps, s.scene);
    add_tubes(file.tubes, s, depth_range_um);
    if (file.scene.pulsating) {
        heart_rate_hz = s.heart_rate_hz;
        pulsation = s.pulsation;
    }
}

double Scenery::height_um(const Boundary& b, double x, double y) const {
    double height = b.base_um + b.tilt_um * (u(x) + v(y) / 2) + bowed(b.bow_um, u(x), v(y));
    if (b.wave_um != 0) height += b.wave_um * std::sin(2 * pi * (1.5 * u(x) + 0.3 * v(y))) * std::cos(2 * pi * v(y));
    if (b.pit_um != 0) {
        const double distance = std::hypot(x - width_um / 2, y - length_um / 2) / b.pit_radius_um;
        height += b.pit_um * std::exp(-distance * distance);
    }
    for (const Lump& lump : b.lumps) {
        const double off_x = x - width_um / 2 - lump.x_um, off_y = y - length_um / 2 - lump.y_um;
        height -= lump.height_um * std::exp(-(off_x * off_x + off_y * off_y) / (lump.radius_um * lump.radius_um));
    }
    return height;
}

double Scenery::x_um(const Tube& t, double y) const {
    const double phase = 2 * pi * (y - length_um / 2) / t.period_um + t.phase_rad;
    return width_um / 2 + t.x_um + t.swing_um * std::sin(phase);
}

double Scenery::x_slope(const Tube& t, double y) const {
    const double phase = 2 * pi * (y - length_um / 2) / t.period_um + t.phase_rad;
    return 2 * pi / t.period_um * t.swing_um * std::cos(phase);
}

double Scenery::z_um(const Tube& t, double y) const {
    return t.z_um + t.descent * (y - length_um / 2) + bowed(t.bow_um, 0, v(y));
}

double Scenery::z_slope(const Tube& t, double y) const {
    return t.descent + 4 * t.bow_um * v(y) / form_length_um_;
}

double Scenery::loss(const std::vector<double>& heights, double x, double y, double z) const {
    double exponent = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        exponent += layers[i].attenuation_per_mm * overlap(heights[i], heights[i + 1], 0, z);
    }
    for (const Tube& tube : tubes) {
        const double off_axis = x - x_um(tube, y);
        const double half_square = tube.radius_um * tube.radius_um - off_axis * off_axis;
        if (half_square <= 0) continue;
        const double half = std::sqrt(half_square);
        const double axis = z_um(tube, y);
        exponent += tube.attenuation_per_mm * overlap(axis - half, axis + half, 0, z);
    }
    return exponent / 1000;
}

double Scenery::flow_time_s(double time_s) const {
    const double omega = 2 * pi * heart_rate_hz;
    return omega == 0 ? time_s : time_s + pulsation / omega * (1 - std::cos(omega * time_s));
}

std::pair<double, double> Scenery::depths_um(double x_um, double y_um) const {
    constexpr int places = 17;  // samples along each side
    double least = shown_to_um, greatest = 0;
    const auto take = [&](double from, double to) {
        least = std::min(least, from);
        greatest = std::max(greatest, to);
    };
    for (const Reflector& reflector : reflectors) take(reflector.depth_um, reflector.depth_um);
    for (int j = 0; j < places; ++j) {
        const double y = -y_um + (length_um + 2 * y_um) * j / (places - 1);
        for (const Tube& tube : tubes) {
            const double radius = tube.radius_um + tube.wall_um;
            take(z_um(tube, y) - radius, z_um(tube, y) + radius);
        }
        for (int i = 0; i < places; ++i) {
            const double x = -x_um + (width_um + 2 * x_um) * i / (places - 1);
            for (const Boundary& boundary : boundaries) take(height_um(boundary, x, y), height_um(boundary, x, y));
        }
    }
    return {least, greatest};
}

void Scenery::make_room(const Motion::Excursion& moved, double reach_um, double range, const std::string& key) {
    const auto [top, bottom] = depths_um(std::max(-moved.least.x_um, moved.greatest.x_um) + reach_um,
                                         std::max(-moved.least.y_um, moved.greatest.y_um) + reach_um);
    const double up = std::min(moved.least.z_um, 0.0), down = std::max(moved.greatest.z_um, 0.0);
    deepest_um = shown_to_um - up;
    const bool is_above = top + up < 0;
    if (!is_above && std::min(bottom, deepest_um) + down <= range) return;
    throw Error(ErrorCode::bad_setting,
                is_above ? "the scene, which begins at a depth of " + micrometres(top) + ", would move up by " +
                               micrometres(-up) + ", beyond zero delay"
                         : "the scene, which reaches to " + micrometres(std::min(bottom, deepest_um)) +
                               ", would move down by " + micrometres(down) + ", beyond the depth range of " +
                               micrometres(range),
                key, "choose less motion or more samples");
}

void Scenery::add_mirrors(const Simulation& s, double range) {
    if (s.mirror_um.size() != s.mirror_amplitude.size() || s.mirror_um.empty()) {
        throw Error(ErrorCode::bad_setting, "needs one amplitude for each reflector", "simulation.mirror_amplitude",
                    "use as many numbers as simulation.mirror_um, at least one");
    }
    for (std::size_t i = 0; i < s.mirror_um.size(); ++i) {
        if (s.mirror_um[i] > range) {
            throw Error(ErrorCode::bad_setting,
                        micrometres(s.mirror_um[i]) + " is beyond the depth range of " + micrometres(range),
                        "simulation.mirror_um", "choose a smaller depth or more samples");
        }
        reflectors.push_back({s.mirror_um[i], s.mirror_amplitude[i]});
    }
}

void Scenery::add_boundaries(const SceneFile& file, Relief relief, double range) {
    const BoundaryLists& lists = file.boundaries;
    const bool is_tilted = !file.scene.relief || relief == Relief::tilted;
    const bool is_curved = !file.scene.relief || relief == Relief::curved;
    const double shorter_um = std::min(form_width_um_, form_length_um_);
    for (std::size_t i = 0; i < lists.depth.size(); ++i) {
        boundaries.push_back({.base_um = lists.depth[i] * range,
                              .tilt_um = is_tilted ? of_each(lists.tilt, i) * range : 0,
                              .bow_um = is_curved ? of_each(lists.bow, i) * range : 0,
                              .wave_um = is_curved ? of_each(lists.wave, i) * range : 0,
                              .pit_um = of_each(lists.pit, i) * range,
                              .pit_radius_um = of_each(lists.pit_radius, i) * shorter_um,
                              .reflex = of_each(lists.reflex, i)});
    }
    for (std::size_t i = 0; i + 1 < boundaries.size(); ++i) {
        layers.push_back({of_each(file.layers.brightness, i), of_each(file.layers.attenuation_per_mm, i)});
    }
}

void Scenery::add_lumps(const LumpLists& lists, const std::string& scene) {
    for (std::size_t i = 0; i < lists.x.size(); ++i) {
        const Lump lump{of_each(lists.x, i) * form_width_um_, of_each(lists.y, i) * form_length_um_,
                        of_each(lists.radius_um, i), of_each(lists.height_um, i)};
        const auto first = static_cast<std::size_t>(of_each(lists.first, i)),
                   last = static_cast<std::size_t>(of_each(lists.last, i));
        if (last > boundaries.size() || first > last) {
            throw Error(ErrorCode::bad_setting, "a lump raises boundaries that the scene does not have",
                        scene + ", lumps.last", "number the boundaries from 1 to " + std::to_string(boundaries.size()));
        }
        for (std::size_t k = first - 1; k < last; ++k) boundaries[k].lumps.push_back(lump);
    }
}

double Scenery::radius_um(const TubeLists& lists, std::size_t i, double range) const {
    if (const double radius = of_each(lists.radius_um, i); radius > 0) return radius;
    const double radius = of_each(lists.radius, i) * range;
    const double widest = of_each(lists.radius_of_width, i) * form_width_um_;
    return widest > 0 ? std::min(radius, widest) : radius;
}

void Scenery::add_tubes(const TubeLists& lists, const Simulation& s, double range) {
    for (std::size_t i = 0; i < lists.depth.size(); ++i) {
        const double radius = radius_um(lists, i, range);
        const double area_mm2 = pi * radius * radius * 1e-6;
        const double flow = of_each(lists.flow, i);
        tubes.push_back(
            {.x_um = of_each(lists.x, i) * form_width_um_,
             .swing_um = of_each(lists.swing, i) * form_width_um_,
             .period_um = of_each(lists.period, i) * form_length_um_,
             .phase_rad = of_each(lists.phase_rad, i),
             .z_um = lists.depth[i] * range,
             .descent = lists.tilted ? std::tan(s.tilt_deg * pi / 180) : of_each(lists.descent, i),
             .bow_um = of_each(lists.bow, i) * range,
             .radius_um = radius,
             .wall_um = of_each(lists.wall_um, i),
             .brightness = of_each(lists.brightness, i),
             .wall_brightness = of_each(lists.wall_brightness, i),
             .attenuation_per_mm = of_each(lists.attenuation_per_mm, i),
             .peak_mm_s = flow != 0 ? 2 * (flow * s.flow_ul_s) / area_mm2 : of_each(lists.speed, i) * s.flow_mm_s});
        if (lists.tilted) check_fits(tubes.back(), s.scene, range);
    }
}

void Scenery::check_fits(const Tube& tube, const std::string& scene, double range) const {
    const double reach = tube.radius_um + tube.wall_um + std::abs(tube.descent) * length_um / 2;
    if (tube.z_um - reach >= 0 && tube.z_um + reach <= deepest_um) return;
    throw Error(
        ErrorCode::bad_setting,
        "the tilted " + scene + " needs " + micrometres(2 * reach) + " of the depth range of " + micrometres(range),
        "simulation.tilt_deg", "choose a smaller tilt, fewer B-scans or more samples");
}

SceneSection scene_section(const std::string& scene, std::size_t columns) {
    Simulation simulation;
    simulation.scene = scene;
    simulation = with_scene_defaults(simulation);
    const Scenery scenery(simulation, Spectrometer(simulation).z_max_um() / simulation.refractive_index);
    const double y = 0.5 * scenery.length_um, deepest = scenery.shown_to_um, width = scenery.width_um;
    SceneSection section;
    for (const Boundary& boundary : scenery.boundaries) {
        std::vector<double>& depths = section.boundaries.emplace_back();
        for (std::size_t i = 0; i < columns; ++i) {
            const double x = width * (static_cast<double>(i) + 0.5) / static_cast<double>(columns);
            depths.push_back(scenery.height_um(boundary, x, y) / deepest);
        }
    }
    double brightest = 0;
    for (const Layer& layer : scenery.layers) brightest = std::max(brightest, layer.brightness);
    for (const Layer& layer : scenery.layers)
        section.brightness.push_back(brightest > 0 ? layer.brightness / brightest : 0);
    for (const Tube& tube : scenery.tubes) {
        section.tubes.push_back({scenery.x_um(tube, y) / width, scenery.z_um(tube, y) / deepest, tube.radius_um / width,
                                 tube.radius_um / deepest, tube.peak_mm_s * scenery.z_slope(tube, y) > 0});
    }
    for (const Reflector& reflector : scenery.reflectors) section.reflectors.push_back(reflector.depth_um / deepest);
    return section;
}

}  // namespace echolux
