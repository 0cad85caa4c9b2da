// Interface of the CUDA backend for the rest of compute. Not compiled without CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "compute/backend.h"

namespace echolux::cuda {

// Surveys the driver and runs a trivial kernel on each GPU. Never throws.
GpuSurvey survey() noexcept;

// Plans on the GPU named by `choice`, or the first usable one. Throws Error{bad_setting, device, out_of_memory}.
std::unique_ptr<Reconstructor> plan_on_gpu(const ReconstructionSpec& spec, const BackendChoice& choice);

// Returns whether one usable GPU can copy directly to the other.
bool has_access(const DeviceId& from, const DeviceId& to);

// Allocates pinned memory that all GPUs can read. Returns null if the driver refuses.
std::byte* allocate_pinned(std::int64_t bytes) noexcept;
void release_pinned(std::byte* data) noexcept;

}  // namespace echolux::cuda
