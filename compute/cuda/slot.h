// Pointed to by `Place::data` of a device_surface: a texture or packed buffer owned by the renderer, and its
// synchronization. Created by share(). Runners only read it, on the thread that also opens and publishes the slot.
//
// Before writing, a runner makes its stream wait for `opened`. After its last write it makes `publishing` wait for its
// own event. publish() then signals the renderer on `publishing` alone.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "compute/types.h"

namespace echolux::cuda {

// Non-owning description of an imported texture or buffer.
struct CudaSlot {
    int device = 0;                   // owner of the memory; other devices copy to it
    cudaArray_t array = nullptr;      // array of the surface
    cudaSurfaceObject_t surface = 0;  // 0 for a buffer
    std::byte* buffer = nullptr;      // device memory, contiguous [b_scans][a_scans][depth]; null for a surface
    cudaStream_t publishing = nullptr;
    cudaEvent_t opened = nullptr;  // recorded by begin()
    VoxelType type = VoxelType::u8;
    std::int64_t depth = 0;
    std::int64_t a_scans = 0;
    std::int64_t b_scans = 0;
};

}  // namespace echolux::cuda
