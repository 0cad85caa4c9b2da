// GPU memory for callers that store spectra or voxels there: benchmarks, and programs that already use the GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "compute/block_memory.h"

namespace echolux {

// Allocates zeroed memory. An all-zero `gpu` selects the first one. Throws Error{device, out_of_memory}.
BlockMemory device_memory(std::int64_t bytes, const DeviceId& gpu = {});

// Creates a CUDA stream for use as CallerOrder::handle. Throws Error{device}.
std::shared_ptr<void> device_stream(const DeviceId& gpu = {});

// Returns the free memory of a GPU in bytes. Throws Error{device}.
std::int64_t free_device_memory(const DeviceId& gpu = {});

// Copies between host or device memory in any direction. Blocks until complete. Throws Error{device}.
void copy_memory(std::byte* to, const std::byte* from, std::int64_t bytes);

}  // namespace echolux
