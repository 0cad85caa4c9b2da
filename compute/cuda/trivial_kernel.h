// Whether the current device runs anything at all of what this build holds.
#pragma once

#include <cuda_runtime.h>

namespace echolux::cuda {

// Runs a kernel that does nothing and waits for it. Without code for the device: cudaErrorNoKernelImageForDevice.
cudaError_t run_trivial_kernel();

}  // namespace echolux::cuda
