// The smallest kernel there is, to see whether a GPU runs what this build holds.
#include "compute/cuda/trivial_kernel.h"

namespace echolux::cuda {
namespace {

__global__ void nothing() {}

}  // namespace

cudaError_t run_trivial_kernel() {
    cudaFuncAttributes facts{};
    cudaError_t result = cudaFuncGetAttributes(&facts, nothing);
    if (result != cudaSuccess) return result;
    nothing<<<1, 1>>>();
    result = cudaGetLastError();
    return result == cudaSuccess ? cudaDeviceSynchronize() : result;
}

}  // namespace echolux::cuda
