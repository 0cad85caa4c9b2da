// Speckle filters on a GPU, see compute/speckle.h.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "compute/speckle.h"

namespace echolux::cuda {

// Uses the GPU named by `choice`, or the first usable one. Throws Error{device, out_of_memory}.
std::unique_ptr<SpeckleFilterOnGpu> speckle_filter(const std::array<std::int64_t, 3>& size, const SpeckleTables& tables,
                                                   const BackendChoice& choice);

// Returns the max GPU memory that a filter needs in addition to its input and output.
std::int64_t filter_bytes(const std::array<std::int64_t, 3>& size, const SpeckleTables& tables);

}  // namespace echolux::cuda
