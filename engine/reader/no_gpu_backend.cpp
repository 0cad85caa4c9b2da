// gpu_backend() of the reader, which never computes. Without this definition the linker would take the one of compute,
// and all kernels with it.
#include "compute/gpu_backend.h"

namespace echolux {

const GpuBackend* gpu_backend() {
    return nullptr;
}

}  // namespace echolux
