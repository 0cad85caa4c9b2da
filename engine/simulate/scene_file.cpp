#include "engine/simulate/scene_file.h"

#include <algorithm>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/scan/settings.h"

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
        text("text", &S::text, effect, "what is to be seen, in a line"),
        number("refractive_index", &S::refractive_index, 1, 3, "", effect, "of all that lies below zero delay"),
        number("spacing_a_um", &S::spacing_a_um, 0.01, 1e4, "um", effect, "distance between A-scans"),
        flag("relief", &S::relief, effect, "apply simulation.relief (tilt, bow, wave)"),
        flag("pulsating", &S::pulsating, effect, "flow with the heart's beat"),
        flag("mirrors", &S::mirrors, effect, "the reflectors of simulation.mirror_um"),
        text("live", &S::live, effect,
             "settings that a live source begins with, with spaces between: \"simulation.a_repeats=4 "
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
             "in the middle of the field, from above; all of them parts of the depth range");
        list("tilt", &B::tilt, -1, 1, "", "rise along a B-scan, and half of it across");
        list("bow", &B::bow, -1, 1, "", "in the corners, relative to the middle");
        list("wave", &B::wave, -1, 1, "", "amplitude of a gentle ripple");
        list("pit", &B::pit, -1, 1, "", "depth of a foveal pit in the middle");
        list("pit_radius", &B::pit_radius, 0.001, 10, "", "1/e, as part of the field's shorter side");
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
        list("attenuation_per_mm", &L::attenuation_per_mm, 0, 1000, "", "of the amplitude, there and back");
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
        list("depth", &T::depth, 0, 1, "", "of the axis in the middle of the field, as part of the depth range");
        list("x", &T::x, -1, 1, "", "of the axis from the middle, as part of the field's width");
        list("swing", &T::swing, -1, 1, "", "the axis meanders by this, as part of the width");
        list("period", &T::period, 0.01, 100, "", "of the meander, as part of the field's length");
        list("phase_rad", &T::phase_rad, -100, 100, "rad", "of the meander in the middle");
        list("descent", &T::descent, -10, 10, "", "of the axis, for its length across the B-scans");
        list("bow", &T::bow, -1, 1, "", "in the corners, as part of the depth range");
        fields.push_back(flag("tilted", &T::tilted, effect, "simulation.tilt_deg in place of descent"));
        list("radius", &T::radius, 0, 1, "", "as a fraction of the depth range");
        list("radius_of_width", &T::radius_of_width, 0, 1, "",
             "upper limit, as a fraction of the width of the field; 0: none");
        list("radius_um", &T::radius_um, 0, most_um, "um", "in place of both, where it is not 0");
        list("wall_um", &T::wall_um, 0, most_um, "um", "thickness of the wall");
        list("brightness", &T::brightness, 0, 100, "", "of the blood, relative to simulation.brightness");
        list("wall_brightness", &T::wall_brightness, 0, 100, "", "of the wall");
        list("attenuation_per_mm", &T::attenuation_per_mm, 0, 1000, "", "on top of what the layer has");
        list("speed", &T::speed, -100, 100, "", "on the axis, as part of simulation.flow_mm_s");
        list("flow", &T::flow, -100, 100, "",
             "as part of simulation.flow_ul_s, in place of the speed, where it is not 0");
        return fields;
    }();
    return all;
}

namespace {

// Checks that each list has one number per item or one number for all.
template <class S>
void check_lists(const S& lists, std::size_t count, const std::string& where) {
    for (const Field<S>& field : describe<S>()) {
        const Value value = field.get(lists);
        const auto* list = std::get_if<std::vector<double>>(&value);
        if (list == nullptr || list->size() == count || list->size() == 1) continue;
        throw Error(ErrorCode::bad_setting,
                    "has " + std::to_string(list->size()) + " numbers for " + std::to_string(count),
                    where + std::string(field.name), "give one for all, or one for each");
    }
}

// Throws unless boundaries are sorted and all lists have matching lengths.
void check_scene(const SceneFile& file, const std::string& where) {
    const std::vector<double>& depths = file.boundaries.depth;
    if (!std::ranges::is_sorted(depths)) {
        throw Error(ErrorCode::bad_setting, "is not in ascending order", where + ", boundaries.depth",
                    "name the boundaries from above");
    }
    const std::size_t layers = depths.empty() ? 0 : depths.size() - 1;
    if (!depths.empty()) check_lists(file.boundaries, depths.size(), where + ", boundaries.");
    if (layers > 0 || !file.layers.brightness.empty()) check_lists(file.layers, layers, where + ", layers.");
    if (!file.tubes.depth.empty()) check_lists(file.tubes, file.tubes.depth.size(), where + ", tubes.");
}

}  // namespace

SceneFile scene_of(const Asset& asset) {
    const std::string where = asset.own.empty() ? asset.name : asset.own.string();
    SceneFile file;
    Settings settings;
    settings.bind("scene", file.scene);
    settings.bind("boundaries", file.boundaries);
    settings.bind("layers", file.layers);
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

std::vector<ShownScene> shown_scenes() {
    std::vector<ShownScene> scenes;
    for (const Asset& asset : assets_of(scene_files)) {
        try {
            const SceneWords words = scene_of(asset).scene;
            scenes.push_back({asset.name, words.title.empty() ? asset.name : words.title, words.text});
        } catch (const Error&) {  // reported where scenes are listed with their files
        }
    }
    return scenes;
}

}  // namespace echolux
