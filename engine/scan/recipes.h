// Recipes: settings that belong together, under a name, and what they are for. Files that came with the program
// (assets/recipes) and a user's own: [about], then sections as a scan's file has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assets/assets.h"

namespace echolux {

struct NamedRecipe {
    std::string method;                    // how it works and what it costs: a line
    std::string use;                       // when to use it: a line
    std::vector<std::string> assignments;  // "recipe.method=defr", in the order of the file
};

// Throws Error{bad_file, bad_setting} naming file and key for what no scan could take.
NamedRecipe recipe_of(const Asset& asset);

// The assignments of a user's own recipe, else of the shipped one, or of the file where `name` ends as one (.toml).
// Throws as recipe_of(), and Error{bad_setting} naming the nearest and all of them for a name that there is not.
std::vector<std::string> assignments_of_recipe(std::string_view name);

}  // namespace echolux
