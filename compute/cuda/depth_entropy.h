// Entropy of depth profiles under trial phases on a GPU, see compute/depth_entropy.h.
#pragma once

#include <memory>

#include "compute/depth_entropy.h"

namespace echolux::cuda {

// Uses the GPU named by `choice`, or the first usable one. Throws Error{device, out_of_memory}.
std::unique_ptr<DepthEntropy> depth_entropy(const SpectraOnGrid& spectra, const BackendChoice& choice);

}  // namespace echolux::cuda
