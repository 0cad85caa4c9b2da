// The one place where TOML is read: parsed, or refused in the words of the parser. What is nested deeper than anything
// that people write is refused before: trees are released by functions that call themselves, and a stack has an end.
#pragma once

#include <toml++/toml.h>
#include <string>
#include <string_view>

namespace echolux {

// Throws Error{bad_file} naming `where`, line and column.
toml::table parsed_toml(std::string_view text, const std::string& where);

}  // namespace echolux
