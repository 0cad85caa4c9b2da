// The only place that parses TOML. Text nested deeper than anything written by hand is rejected first, because the
// parser destroys trees recursively and could overflow the stack.
#pragma once

#include <toml++/toml.h>
#include <string>
#include <string_view>

namespace echolux {

// Parses `text`. Throws Error{bad_file}, with the parser's message, naming `where`, line and column.
toml::table parsed_toml(std::string_view text, const std::string& where);

}  // namespace echolux
