// Parsing of JSON from files of other programs. Input nested deeper than any supported file is rejected before parsing,
// because the JSON library copies and destroys trees recursively and could overflow the stack.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace echolux {

// Parses `text`. Throws Error{bad_file} naming `where` if it is not JSON, or is nested more than 64 levels deep.
nlohmann::json parsed_json(std::string_view text, const std::string& where, const std::string& remedy);

}  // namespace echolux
