// How much memory a job may take, so that it refuses up front instead of driving the machine into the ground.
#pragma once

#include <cstdint>
#include <string>

namespace echolux {

// Bytes that can be allocated now without swapping; ECHOLUX_MEMORY_MIB overrides it.
std::int64_t available_memory_bytes();

// Throws Error{out_of_memory} naming `what` and both sizes when `bytes` are more than nine tenths of what is available.
void require_memory(std::int64_t bytes, const std::string& what, const std::string& remedy);

}  // namespace echolux
