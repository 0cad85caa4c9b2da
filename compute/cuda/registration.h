// Registration on a GPU, see compute/tissue_on_gpu.h.
#pragma once

#include <memory>

#include "compute/tissue_on_gpu.h"

namespace echolux::cuda {

// Uses the GPU named by `choice`, or the first usable one. Throws Error{device, out_of_memory}.
std::shared_ptr<RegistrationOnGpu> registration(const BackendChoice& choice);

}  // namespace echolux::cuda
