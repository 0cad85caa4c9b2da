// Removes fixed lines in depth from whole B-scans of depth bins on the GPU (docs/algorithms.md 2.2 d and e; Moon 2010).
#pragma once

#include <cstdint>

#include "compute/cuda/line_method.h"
#include "compute/plan/params.h"

namespace echolux::cuda {

// Enqueues the removal from bins of [frames][lines].
void remove_fixed_pattern(cudaStream_t stream, FixedPattern mode, std::int64_t segments, const DeviceBins& bins,
                          std::int64_t frames, std::int64_t lines, std::int64_t depth);

}  // namespace echolux::cuda
