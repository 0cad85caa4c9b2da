// Memory limits of a job, so that it is refused up front instead of making the machine swap.
#pragma once

#include <cstdint>
#include <string>

namespace echolux {

// Returns the bytes that can be allocated now without swapping, or a very large number if unknown. ECHOLUX_MEMORY_MIB
// overrides the system's value.
std::int64_t available_memory_bytes();

// Throws Error{out_of_memory} with `what` and both sizes if `bytes` exceeds 90 % of the available memory.
void require_memory(std::int64_t bytes, const std::string& what, const std::string& remedy);

}  // namespace echolux
