// Postprocessing of volumes between reconstruction and display, see compute/tissue_on_gpu.h.
#pragma once

#include <memory>

#include "compute/tissue_on_gpu.h"

namespace echolux::cuda {

// Uses the GPU named by `choice`, or the first usable one. Throws Error{device, out_of_memory}.
std::unique_ptr<VolumeOnGpu> volume_on_gpu(const VolumeOnGpuWanted& wanted, const BackendChoice& choice);

}  // namespace echolux::cuda
