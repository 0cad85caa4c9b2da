// The rooms below know no command line: what they say names keys. Here these become the options of the program.
#pragma once

#include <string>

#include "compute/error.h"

namespace echolux {

// A line of a warning: the key before its first colon, and keys that stand in `backticks`, become options and commands.
// What is no option stays as it is.
std::string in_options(const std::string& line);

// The same of each part of an error.
Error in_options(const Error& error);

}  // namespace echolux
