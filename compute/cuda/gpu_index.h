// Maps UUIDs to GPUs, for reconstruction, memory, textures and ceilings.
#pragma once

#include "compute/backend.h"

namespace echolux::cuda {

// A usable GPU and its CUDA device number.
struct NumberedGpu {
    int index = 0;  // device number in the CUDA runtime
    Gpu gpu;
};

// Returns a usable GPU of surveyed_gpus(). An all-zero `id` selects the first one. Throws Error{device} if it is not
// usable.
const NumberedGpu& usable_gpu(const DeviceId& id);

}  // namespace echolux::cuda
