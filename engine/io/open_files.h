// Where no more files can be opened: that is no fault of the file that was to be opened next, and is told as what it
// is.
#pragma once

#include <string>

namespace echolux {

// Throws Error{device} naming `where` if `problem`, an errno, says that this process or the system has too many files
// open.
void check_open_files(int problem, const std::string& where);

}  // namespace echolux
