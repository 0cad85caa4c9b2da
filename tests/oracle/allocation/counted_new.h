// Replaces the program's operator new by one that counts.
#pragma once

#include <cstdint>

namespace echolux {

// Returns the number of calls of operator new to date, on all threads.
std::int64_t allocations();

}  // namespace echolux
