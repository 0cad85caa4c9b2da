#include "compute/gpu_backend.h"

#include "compute/error.h"
#ifdef ECHOLUX_CUDA
#include "compute/cuda/entry.h"
#endif

namespace echolux {

const GpuBackend* gpu_backend() {
#ifdef ECHOLUX_CUDA
    return &cuda::backend;
#else
    return nullptr;
#endif
}

const GpuBackend& required_gpu() {
    if (const GpuBackend* gpu = gpu_backend()) return *gpu;
    throw Error(ErrorCode::device, no_gpu_backend, "cuda", "build with nvcc on the PATH");
}

}  // namespace echolux
