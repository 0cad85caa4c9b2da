// The first line of a program: {"token": "..."}.
#pragma once

#include <string>
#include <string_view>

namespace echolux {

// Empty: it is no such line.
std::string token_of_line(std::string_view line);

}  // namespace echolux
