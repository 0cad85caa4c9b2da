// Reports exhausted file descriptors as such, instead of blaming the file that could not be opened.
#pragma once

#include <string>

namespace echolux {

// Throws Error{device} naming `where` if `problem`, an errno, means that this process or the system has too many open
// files. Otherwise does nothing.
void check_open_files(int problem, const std::string& where);

}  // namespace echolux
