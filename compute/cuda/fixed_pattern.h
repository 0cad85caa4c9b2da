// Fixed lines in depth, removed from whole B-scans of depth bins on the GPU (docs/algorithms.md 2.2 d and e; Moon
// 2010).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "compute/params.h"

namespace echolux::cuda {

// bins: [frames][lines][depth].
void remove_fixed_pattern(cudaStream_t stream, FixedPattern mode, std::int64_t segments, float2* bins,
                          std::int64_t frames, std::int64_t lines, std::int64_t depth);

}  // namespace echolux::cuda
