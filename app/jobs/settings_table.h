// Every setting of the program: as a Markdown table, made from the descriptions, and as what may be assigned.
#pragma once

#include <string>
#include <string_view>

namespace echolux {

std::string settings_table();

// "recipe.window=hann". Throws Error{bad_setting} for a key that no part of the program has, or a value that it cannot
// have.
void check_assignment(std::string_view assignment);

}  // namespace echolux
