// Tables that spread samples at arbitrary points over a uniform circular grid and interpolate from it: the two parts of
// the NUFFT besides the transform.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/methods/spreading_kernel.h"

namespace echolux {

// A sparse matrix in both directions, so that one is exactly the adjoint of the other. Each sum gathers rather than
// scatters: the same bits for any number of threads, and no atomics on a GPU.
struct SpreadSamples {
    // To the grid: value of point g = sum over i in [begin[g], begin[g + 1]) of weights[i] * value[samples[i]].
    std::vector<std::int32_t> begin;    // [grid + 1]
    std::vector<std::int32_t> samples;  // sample index of each weight
    std::vector<float> weights;

    // From the grid: value of sample p = sum over l < width of from_weights[p * width + l] * value[(first[p] + l) mod
    // grid].
    std::int64_t width = 1;
    std::vector<std::int32_t> first;
    std::vector<float> from_weights;
};

// Builds the tables. `places` are the sample positions in points of the grid.
SpreadSamples spread_samples(const SpreadingKernel& kernel, const std::vector<double>& places, std::int64_t grid);

// Builds the tables for samples that coincide with grid points.
SpreadSamples placed_samples(const std::vector<std::int32_t>& places, std::int64_t grid);

}  // namespace echolux
