// Spreading to the finer grid of a NUFFT in the layout for GPUs: each point gathers the same number of neighbouring
// real samples with complex weights. If the sample weights are real, the grid is real and two of its points form one
// complex point of a transform of half the length (half_length.h).
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <vector>

#include "compute/methods/nonuniform.h"

namespace echolux::cuda {

// Point j of the transform is the sum over m < taps of weights[m * points + j] * sample[base[j] + m], where samples
// repeat from the first after the last. Bin z of the transform is depth bin z, regardless of the tables' `middle`.
struct GridTaps {
    std::int64_t points = 0;  // length of the transform
    std::int64_t taps = 1;
    std::int64_t repeated = 0;       // samples read beyond the last
    std::vector<std::int32_t> base;  // [points]
    std::vector<float2> weights;     // [taps][points]
};

// Builds the taps.
GridTaps grid_taps(const NufftTables& tables);

}  // namespace echolux::cuda
