// Recipes: named sets of settings for a purpose. They are TOML files with a section [about], followed by sections of
// scan files. Some are shipped with the program (assets/recipes); users can add their own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assets/assets.h"

namespace echolux {

struct NamedRecipe {
    std::string method;                    // how it works and what it costs, in one line
    std::string use;                       // when to use it, in one line
    std::vector<std::string> assignments;  // "recipe.method=defr", in file order
};

// Reads a recipe. Throws Error{bad_file, bad_setting}, naming file and key, if it contains invalid settings.
NamedRecipe recipe_of(const Asset& asset);

// Returns the assignments of a recipe. `name` is that of the user's own or of a shipped recipe, or a path that ends in
// .toml. Throws as recipe_of(), and Error{bad_setting} for an unknown name, suggesting the nearest or listing all.
std::vector<std::string> assignments_of_recipe(std::string_view name);

}  // namespace echolux
