// What `Place::data` of a device_surface points at: one texture, or packed buffer, that belongs to the renderer, and
// how a runner takes its turn on it. `share` makes these; runners only read them, on the thread that also opens and
// publishes the slot.
//
// A runner lets its stream wait for `opened` before it writes, and lets `publishing` wait for its own event after its
// last write; then `publish` signals the renderer on `publishing` alone.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "compute/types.h"

namespace echolux::cuda {

struct CudaSlot {
    int device = 0;                   // whose memory it is; others copy to it
    cudaArray_t array = nullptr;      // of the surface
    cudaSurfaceObject_t surface = 0;  // 0: a buffer
    std::byte* buffer = nullptr;      // device memory, [b_scans][a_scans][depth] without gaps; null: a surface
    cudaStream_t publishing = nullptr;
    cudaEvent_t opened = nullptr;  // recorded by `begin`
    VoxelType type = VoxelType::u8;
    std::int64_t depth = 0;
    std::int64_t a_scans = 0;
    std::int64_t b_scans = 0;
};

}  // namespace echolux::cuda
