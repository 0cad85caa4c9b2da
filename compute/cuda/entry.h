// What the rest of compute knows of the CUDA backend. Without CUDA none of it exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "compute/backend.h"

namespace echolux::cuda {

// Repeats at the driver and at every GPU, each of which runs a trivial kernel. Throws nothing.
GpuSurvey survey() noexcept;

// On the GPU that `choice` names, or the first that can be used. Throws Error{bad_setting, device, out_of_memory}.
std::unique_ptr<Reconstructor> plan_on_gpu(const ReconstructionSpec& spec, const BackendChoice& choice);

// Whether copies from one GPU to the other go straight. Both are usable ones.
bool has_access(const DeviceId& from, const DeviceId& to);

// Pinned memory that every GPU can read; null where the driver refuses.
std::byte* allocate_pinned(std::int64_t bytes) noexcept;
void release_pinned(std::byte* data) noexcept;

}  // namespace echolux::cuda
