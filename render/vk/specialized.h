// A shader with its specialization constants put in, and without what they rule out. Drivers of GPUs do this quickly by
// themselves; software Vulkan takes ten times as long for all of a large shader as for what is left of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace echolux::gpu {

// Constant i gets constants[i]; booleans are 0 or 1. `spirv` has branches and functions as they were written: an
// optimised shader takes longer than it saves. Throws Error{device}: it is not SPIR-V.
std::vector<std::uint32_t> specialized(std::span<const std::uint32_t> spirv, std::span<const std::int32_t> constants);

}  // namespace echolux::gpu
