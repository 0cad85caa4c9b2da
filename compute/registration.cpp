#include "compute/registration.h"

#include "compute/error.h"
#ifdef ECHOLUX_CUDA
#include "compute/cuda/registration.h"
#endif

namespace echolux {

#ifdef ECHOLUX_CUDA

std::shared_ptr<RegistrationOnGpu> registration_on_gpu(const BackendChoice& choice) {
    return cuda::registration(choice);
}

#else

std::shared_ptr<RegistrationOnGpu> registration_on_gpu(const BackendChoice&) {
    throw Error(ErrorCode::device, "this build has no CUDA backend", "cuda");  // unreachable: no GPU is found
}

#endif

}  // namespace echolux
