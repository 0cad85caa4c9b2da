// Tests whether the current device can run the code of this build.
#pragma once

#include <cuda_runtime.h>

namespace echolux::cuda {

// Runs an empty kernel and waits for it. Returns cudaErrorNoKernelImageForDevice if there is no code for the device.
cudaError_t run_trivial_kernel();

}  // namespace echolux::cuda
