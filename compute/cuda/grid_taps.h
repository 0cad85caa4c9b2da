// How samples are given to the points of the finer grid of a NUFFT, as a GPU wants it: for every point the same number
// of neighbouring samples, real ones times complex weights. Where the weights of the samples are real, so is the grid,
// and two of its points are one complex point of a transform at half the length (half_length.h).
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <vector>

#include "compute/methods/nufft.h"

namespace echolux::cuda {

// Point j of the transform is the sum over m < taps of weights[m * points + j] * sample[base[j] + m], where samples
// beyond the last are again those from the first on. Its bin z is that of the depth, whatever the tables' middle is.
struct GridTaps {
    std::int64_t points = 0;  // of the transform
    std::int64_t taps = 1;
    std::int64_t repeated = 0;       // how many samples beyond the last are read
    std::vector<std::int32_t> base;  // [points]
    std::vector<float2> weights;     // [taps][points]
};

GridTaps grid_taps(const NufftTables& tables);

}  // namespace echolux::cuda
