// Speckle filters on a GPU: see compute/speckle.h.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "compute/speckle.h"

namespace echolux::cuda {

// On the GPU that `choice` names, or the first that can be used. Throws Error{device, out_of_memory}.
std::unique_ptr<SpeckleFilterOnGpu> speckle_filter(const std::array<std::int64_t, 3>& size, const SpeckleTables& tables,
                                                   const BackendChoice& choice);

// Of the GPU's memory that a filter takes at most besides power and result.
std::int64_t filter_bytes(const std::array<std::int64_t, 3>& size, const SpeckleTables& tables);

}  // namespace echolux::cuda
