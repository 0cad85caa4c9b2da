// Translation of setting keys in messages to command-line options. Code outside ui/cli knows no options: its messages
// name keys.
#pragma once

#include <string>

#include "compute/error.h"

namespace echolux {

// Translates a warning. The key before the first colon and keys in `backticks` become options or commands. Other words
// are unchanged.
std::string in_options(const std::string& line);

// Translates each part of an error.
Error in_options(const Error& error);

}  // namespace echolux
