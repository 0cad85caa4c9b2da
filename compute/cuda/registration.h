// Registration on a GPU: see compute/registration.h.
#pragma once

#include <memory>

#include "compute/registration.h"

namespace echolux::cuda {

// On the GPU that `choice` names, or the first that can be used. Throws Error{device, out_of_memory}.
std::shared_ptr<RegistrationOnGpu> registration(const BackendChoice& choice);

}  // namespace echolux::cuda
