#include "engine/layers/layer_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

#include "compute/counted.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/scan/settings.h"

namespace echolux {

template <>
const std::vector<Field<LayerRecipe>>& describe<LayerRecipe>() {
    using R = LayerRecipe;
    constexpr Effect effect = Effect::view;
    constexpr double far_um = 1e5;
    static const std::vector<Field<R>> fields{
        text("names", &R::names, effect, "names of the boundaries from above, with spaces between; empty: 1, 2, ..."),
        integer("count", &R::count, 1, 32, "", effect, "number of boundaries, where they have no names"),
        numbers("polarity", &R::polarity, -1, 1, "", effect,
                "1: brighter below the boundary, -1: darker below, 0: either; one for all, or one for each boundary"),
        numbers("min_um", &R::min_um, 0, far_um, "um", effect, "minimum distance from the boundary above"),
        numbers("max_um", &R::max_um, 0, far_um, "um", effect, "maximum distance from the boundary above; 0: any"),
        numbers("smoothness", &R::smoothness, 0.01, 100, "", effect,
                "factor of what a step between neighbouring A-scans costs; more: smoother boundaries"),
        numbers(
            "vessel_um", &R::vessel_um, 0, 1000, "um", effect,
            "boundaries go straight on where vessels up to this width are as bright as the layer beside them; 0: no "
            "vessels"),
        flag("tissue_below", &R::tissue_below, effect, "tissue continues below the last boundary and fades into noise"),
        number("row_um", &R::row_um, 0, 1000, "um", effect,
               "depth of a voxel, where the volume does not know it; 0: as the volume says")
            .special(0, "as the volume says"),
    };
    return fields;
}

namespace {

// Section [about] of a preset.
struct About {
    std::string text;
};

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

// Returns the boundaries' names, or numbers if there are none. Throws for duplicate names.
std::vector<std::string> names_of(const LayerRecipe& recipe) {
    std::vector<std::string> names = words_of(recipe.names);
    if (names.empty()) {
        for (std::int64_t i = 1; i <= recipe.count; ++i) names.push_back(std::to_string(i));
    }
    if (std::set(names.begin(), names.end()).size() < names.size()) {
        throw Error(ErrorCode::bad_setting, "a name is given twice", "layers.names", "name each boundary once");
    }
    return names;
}

// Returns the number of a boundary from a list with one number for all or one for each.
double number_of(const std::vector<double>& list, std::size_t index) {
    return list.size() == 1 ? list.front() : list.at(index);
}

void check_length(const std::vector<double>& list, std::size_t count, const char* key) {
    if (list.size() == 1 || list.size() == count) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("has {} for {}", counted(list.size(), "numbers"), counted(count, "boundaries")), key,
                "give one for all, or one for each");
}

bool has_distances(const LayerRecipe& recipe) {
    const auto is_given = [](double um) { return um > 0; };
    return std::ranges::any_of(recipe.min_um, is_given) || std::ranges::any_of(recipe.max_um, is_given);
}

}  // namespace

template <>
const std::vector<Field<About>>& describe<About>() {
    static const std::vector<Field<About>> fields{
        text("text", &About::text, Effect::file, "what it is for, in a line")};
    return fields;
}

std::vector<WantedBoundary> wanted_boundaries(const LayerRecipe& recipe, double row_um) {
    const std::vector<std::string> names = names_of(recipe);
    check_length(recipe.polarity, names.size(), "layers.polarity");
    check_length(recipe.min_um, names.size(), "layers.min_um");
    check_length(recipe.max_um, names.size(), "layers.max_um");
    check_length(recipe.smoothness, names.size(), "layers.smoothness");
    check_length(recipe.vessel_um, names.size(), "layers.vessel_um");
    if (recipe.row_um > 0) row_um = recipe.row_um;
    if (row_um <= 0 && has_distances(recipe)) {
        throw Error(ErrorCode::bad_setting, "are in micrometres, and the volume does not know how deep a voxel is",
                    "layers.min_um, layers.max_um", "give the depth of a voxel by layers.row_um");
    }
    const double rows_per_um = row_um > 0 ? 1 / row_um : 0;
    std::vector<WantedBoundary> wanted;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const double min_um = number_of(recipe.min_um, i), max_um = number_of(recipe.max_um, i);
        if (max_um > 0 && min_um > max_um) {
            throw Error(ErrorCode::bad_setting,
                        fmt::format("boundary {} is to lie {:g} um or more and {:g} um or less below the one above",
                                    names[i], min_um, max_um),
                        "layers.min_um, layers.max_um", "give the lesser distance first");
        }
        wanted.push_back({names[i], static_cast<int>(std::lround(number_of(recipe.polarity, i))), min_um * rows_per_um,
                          max_um * rows_per_um, number_of(recipe.smoothness, i), number_of(recipe.vessel_um, i)});
    }
    return wanted;
}

LayerPreset layer_preset_of(const Asset& asset) {
    LayerPreset preset;
    About about;
    LayerRecipe recipe;
    Settings settings;
    settings.bind("about", about);
    settings.bind("layers", recipe);
    const std::vector<TomlEntry> entries = toml_entries_of(layer_files, asset);
    settings.take(entries);
    preset.text = about.text;
    for (const TomlEntry& entry : entries) {
        if (section_of(entry.name) == "layers") preset.assignments.push_back(assignment_of(entry.name, entry.value));
    }
    return preset;
}

LayerPreset layer_preset_named(std::string_view name) {
    if (name.ends_with(layer_files.ending)) {
        const std::filesystem::path file(name);
        return layer_preset_of({file.stem().string(), false, file});
    }
    const std::vector<Asset> presets = assets_of(layer_files);
    std::vector<std::string_view> names;
    std::string list;
    for (const Asset& asset : presets) {
        if (asset.name == name) return layer_preset_of(asset);
        names.push_back(asset.name);
        list += (list.empty() ? "" : ", ") + asset.name;
    }
    const std::string near = nearest_name(name, names);
    throw Error(ErrorCode::bad_setting, "there are no layers of the name '" + std::string(name) + "'", "preset",
                near.empty() ? "choose one of " + list : "did you mean \"" + near + "\"?");
}

}  // namespace echolux
