// Samples at any points, spread by a kernel over a uniform circular grid, and read off it: the two halves of the NUFFT
// that are not a transform, as tables.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/methods/spreading_kernel.h"

namespace echolux {

// Both ways of the same sparse matrix, so that one is exactly the adjoint of the other. Each sum is gathered, not
// scattered: the same bits for any number of threads, and no atomics on a GPU.
struct SpreadSamples {
    // To the grid: point g is the sum over i in [begin[g], begin[g + 1]) of weights[i] * value[samples[i]].
    std::vector<std::int32_t> begin;    // [grid + 1]
    std::vector<std::int32_t> samples;  // which of the samples given
    std::vector<float> weights;

    // From the grid: sample p is the sum over l < width of from_weights[p * width + l] * value[(first[p] + l) mod
    // grid].
    std::int64_t width = 1;
    std::vector<std::int32_t> first;
    std::vector<float> from_weights;
};

// `places`: of the samples, in points of the grid.
SpreadSamples spread_samples(const SpreadingKernel& kernel, const std::vector<double>& places, std::int64_t grid);

// Samples that lie on points of the grid, each by itself.
SpreadSamples placed_samples(const std::vector<std::int32_t>& places, std::int64_t grid);

}  // namespace echolux
