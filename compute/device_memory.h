// Memory of a GPU for those who leave spectra or voxels there: benchmarks, and programs that already work on the GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "compute/block_memory.h"

namespace echolux {

// All zero. `gpu` all zero: the first. Throws Error{device, out_of_memory}.
BlockMemory device_memory(std::int64_t bytes, const DeviceId& gpu = {});

// A CUDA stream of a GPU, as a program of others would have it: for CallerOrder::handle. Throws Error{device}.
std::shared_ptr<void> device_stream(const DeviceId& gpu = {});

// What a GPU has left. Throws Error{device}.
std::int64_t free_device_memory(const DeviceId& gpu = {});

// From host or device to host or device; done when it returns. Throws Error{device}.
void copy_memory(std::byte* to, const std::byte* from, std::int64_t bytes);

}  // namespace echolux
