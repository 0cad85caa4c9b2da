// GPUs by their UUID: the one rule for reconstruction, memory, textures and ceilings.
#pragma once

#include "compute/backend.h"

namespace echolux::cuda {

struct NumberedGpu {
    int index = 0;  // by which the CUDA runtime knows it
    Gpu gpu;
};

// Of those that surveyed_gpus() found usable; `id` all zero: the first. Throws Error{device} where there is none.
const NumberedGpu& usable_gpu(const DeviceId& id);

}  // namespace echolux::cuda
