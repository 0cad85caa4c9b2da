#include "compute/cuda/library/entry_point.h"

#include "compute/cuda/entry.h"

const echolux::GpuBackend* echolux_cuda_backend() {
    return &echolux::cuda::backend;
}
