// The one place where JSON of others is read. What is nested deeper than any of the files that we know is refused
// before it is parsed: trees are copied and released by functions that call themselves, and a stack has an end.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace echolux {

// Throws Error{bad_file} naming `where`: no JSON, or nested more than 64 deep.
nlohmann::json parsed_json(std::string_view text, const std::string& where, const std::string& remedy);

}  // namespace echolux
