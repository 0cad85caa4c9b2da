// Volumes that are worked on between reconstruction and display: see compute/volume_on_gpu.h.
#pragma once

#include <memory>

#include "compute/volume_on_gpu.h"

namespace echolux::cuda {

// On the GPU that `choice` names, or the first that can be used. Throws Error{device, out_of_memory}.
std::unique_ptr<VolumeOnGpu> volume_on_gpu(const VolumeOnGpuWanted& wanted, const BackendChoice& choice);

}  // namespace echolux::cuda
