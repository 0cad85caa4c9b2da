// Memory for blocks of raw spectra: page-aligned, and pinned if a GPU will read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "compute/place.h"

namespace echolux {

// Host or device memory of a block. Copies share the memory.
struct BlockMemory {
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    MemoryKind kind = MemoryKind::host;
    std::shared_ptr<const void> keeper;  // the last copy frees the memory
};

// Allocates memory of `bytes` bytes. Pinned memory falls back to pageable host memory if there is no GPU or pinning is
// refused. Throws Error{out_of_memory}.
BlockMemory block_memory(std::int64_t bytes, MemoryKind wanted = MemoryKind::pinned);

// GPU memory for callers that store spectra or voxels there: benchmarks, and programs that already use the GPU.

// Allocates zeroed memory. An all-zero `gpu` selects the first one. Throws Error{device, out_of_memory}.
BlockMemory device_memory(std::int64_t bytes, const DeviceId& gpu = {});

// Creates a CUDA stream for use as CallerOrder::handle. Throws Error{device}.
std::shared_ptr<void> device_stream(const DeviceId& gpu = {});

// Returns the free memory of a GPU in bytes. Throws Error{device}.
std::int64_t free_device_memory(const DeviceId& gpu = {});

// Copies between host or device memory in any direction. Blocks until complete. Throws Error{device}.
void copy_memory(std::byte* to, const std::byte* from, std::int64_t bytes);

}  // namespace echolux
