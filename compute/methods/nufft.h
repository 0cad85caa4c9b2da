// The fast transform of a spectrum where it was sampled (docs/algorithms.md 7; A. Dutt, V. Rokhlin, SIAM J. Sci.
// Comput. 14, 1368 (1993)): samples are spread over a finer uniform grid by a short kernel, transformed, and what the
// kernel did to each depth is divided out.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "compute/methods/spread_samples.h"
#include "compute/plan/params.h"

namespace echolux {

struct NufftTables {
    std::vector<std::complex<float>> weights;  // [samples]: window or shaping, dispersion, share of the k grid
    bool real = true;                          // all weights are
    std::int64_t grid = 0;                     // points of the finer grid, the length of the transform
    SpreadSamples spread;
    std::int64_t first_bin = 0;
    std::vector<float> correction;  // [depth]: 1 / transform of the kernel
};

// Whether this spec goes this way. Without a k map it does not: the plain transform is exact then.
bool uses_nufft(const ReconstructionSpec& spec);

// The spec is valid.
NufftTables nufft_tables(const ReconstructionSpec& spec);

// Samples at `points` of a k grid `length` points long, spread over its finer grid, and what that does to depth bins
// [first, first + bins): correction multiplies it away.
struct FinerGrid {
    std::int64_t grid = 0;
    SpreadSamples spread;
    std::vector<float> correction;
};

FinerGrid finer_grid_of(const NufftRecipe& recipe, std::vector<double> points, std::int64_t length, std::int64_t first,
                        std::int64_t bins);

}  // namespace echolux
