// Recipes that come with the program: settings that belong together, under a name, and what they are for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace echolux {

struct ShippedRecipe {
    std::string name;
    std::string method;                    // how it works and what it costs: a line
    std::string use;                       // when to use it: a line
    std::vector<std::string> assignments;  // "recipe.method=defr"
};

const std::vector<ShippedRecipe>& shipped_recipes();

// The assignments of a recipe. Throws Error{bad_setting} naming all of them for a name that there is not.
const std::vector<std::string>& assignments_of_recipe(std::string_view name);

}  // namespace echolux
