#include "compute/gpu_backend.h"

#ifdef ECHOLUX_CUDA
#include "compute/cuda/entry.h"
#endif

namespace echolux {

// Alone in its file: programs that define it differently leave this file, and with it the kernels, in the archive.
const GpuBackend* gpu_backend() {
#ifdef ECHOLUX_CUDA
    return &cuda::backend;
#else
    return nullptr;
#endif
}

}  // namespace echolux
