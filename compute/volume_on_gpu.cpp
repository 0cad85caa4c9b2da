#include "compute/volume_on_gpu.h"

#include "compute/error.h"
#ifdef ECHOLUX_CUDA
#include "compute/cuda/volume_on_gpu.h"
#endif

namespace echolux {

std::unique_ptr<VolumeOnGpu> volume_on_gpu([[maybe_unused]] const VolumeOnGpuWanted& wanted,
                                           [[maybe_unused]] const BackendChoice& choice) {
#ifdef ECHOLUX_CUDA
    return cuda::volume_on_gpu(wanted, choice);
#else
    throw Error(ErrorCode::device, "this build has no CUDA backend", "cuda");  // unreachable: no GPU is found
#endif
}

}  // namespace echolux
