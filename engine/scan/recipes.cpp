#include "engine/scan/recipes.h"

#include <algorithm>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/scan/scan.h"
#include "engine/scan/settings.h"

namespace echolux {

// The costs in the shipped recipes are processor times for 2048 samples on one core, relative to a plain reconstruction
// without dispersion.
template <>
const std::vector<Field<NamedRecipe>>& describe<NamedRecipe>() {
    static const std::vector<Field<NamedRecipe>> fields{
        text("method", &NamedRecipe::method, Effect::file, "how it works and what it costs, in a line"),
        text("use", &NamedRecipe::use, Effect::file, "when to use it, in a line"),
    };
    return fields;
}

NamedRecipe recipe_of(const Asset& asset) {
    NamedRecipe recipe;
    Scan scan;
    Settings settings;
    settings.bind("about", recipe);
    bind(settings, scan);
    const std::vector<TomlEntry> entries = toml_entries_of(recipe_files, asset);
    settings.take(entries);
    for (const TomlEntry& entry : entries) {
        if (section_of(entry.name) != "about") recipe.assignments.push_back(assignment_of(entry.name, entry.value));
    }
    return recipe;
}

std::vector<std::string> assignments_of_recipe(std::string_view name) {
    if (name.ends_with(recipe_files.ending)) {
        const std::filesystem::path file(name);
        return recipe_of({file.stem().string(), false, file}).assignments;
    }
    const std::vector<Asset> recipes = assets_of(recipe_files);
    std::vector<std::string_view> names;
    std::string list;
    for (const Asset& asset : recipes) {
        if (asset.name == name) return recipe_of(asset).assignments;
        names.push_back(asset.name);
        list += (list.empty() ? "" : ", ") + asset.name;
    }
    const std::string near = nearest_name(name, names);
    throw Error(ErrorCode::bad_setting, "there is no recipe '" + std::string(name) + "'", "recipe",
                near.empty() ? "choose one of " + list : "did you mean \"" + near + "\"?");
}

}  // namespace echolux
