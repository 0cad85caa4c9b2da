// The number by which the CUDA runtime knows a GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstring>

#include "compute/cuda/memory.h"
#include "compute/error.h"
#include "compute/place.h"

namespace echolux::cuda {

// All zero: the first. Throws Error{device} where there is none with this id.
inline int gpu_index(const DeviceId& id) {
    int count = 0;
    checked(cudaGetDeviceCount(&count), "count the GPUs");
    if (id == DeviceId{} && count > 0) return 0;
    for (int i = 0; i < count; ++i) {
        cudaDeviceProp properties{};
        checked(cudaGetDeviceProperties(&properties, i), "ask a GPU what it is");
        if (std::memcmp(&properties.uuid, id.data(), id.size()) == 0) return i;
    }
    throw Error(ErrorCode::device, "the GPU that was asked for is not there", "cuda", "see nvidia-smi -L");
}

}  // namespace echolux::cuda
