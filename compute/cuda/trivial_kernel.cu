// An empty kernel that tests whether a GPU can run the code of this build.
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
