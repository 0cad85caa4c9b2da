// Replaces operator new of the whole program by one that counts.
#pragma once

#include <cstdint>

namespace echolux {

// Calls of operator new so far, on any thread.
std::int64_t allocations();

}  // namespace echolux
