// Shaders with their specialization constants folded in and unreachable code removed. GPU drivers do this quickly
// themselves. Software Vulkan takes ten times as long to compile a complete large shader as the remaining part.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace echolux::gpu {

// Returns `spirv` with specialization constant i frozen to constants[i]; booleans are 0 or 1. Expects unoptimised
// SPIR-V: optimising it takes longer than it saves. Throws Error{device} for invalid SPIR-V.
std::vector<std::uint32_t> specialized(std::span<const std::uint32_t> spirv, std::span<const std::int32_t> constants);

}  // namespace echolux::gpu
