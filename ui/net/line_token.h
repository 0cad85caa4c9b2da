// Parser of the first line that a program sends: {"token": "..."}.
#pragma once

#include <string>
#include <string_view>

namespace echolux {

// Returns the token, or an empty string if the line has another form.
std::string token_of_line(std::string_view line);

}  // namespace echolux
