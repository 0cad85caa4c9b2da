// gpu_backend() of programs that use libecholux_cuda.so.
#include "compute/cuda/library/entry_point.h"

namespace echolux {

const GpuBackend* gpu_backend() {
    return echolux_cuda_backend();
}

}  // namespace echolux
