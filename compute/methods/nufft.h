// The fast transform of a spectrum where it was sampled (docs/algorithms.md 4; A. Dutt, V. Rokhlin, SIAM J. Sci.
// Comput. 14, 1368 (1993); L. Greengard, J.-Y. Lee, SIAM Rev. 46, 443 (2004)): samples are spread over a finer uniform
// grid by a short kernel, transformed, and what the kernel did to each depth is divided out.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "compute/reconstructor.h"

namespace echolux {

// A kernel over `width` points of the finer grid, and its transform.
class SpreadingKernel {
  public:
    explicit SpreadingKernel(const NufftRecipe& recipe);

    double at(double distance) const;                 // in points of the finer grid; 0 from width / 2 on
    double transform(double cycles_per_point) const;  // of what at() gives

  private:
    GridKernel kernel_;
    double width_;
    double shape_;  // b of the Gaussian, beta of the others
};

// Whether the kernel exists: sqrt((W/R)^2 (R - 1/2)^2 - 0.8) must.
bool has_kernel(const NufftRecipe& recipe);

// Point g of the finer grid is the sum over i in [begin[g], begin[g + 1]) of weights[i] * (I[samples[i]] - b).
// Gathered, not scattered: the same bits for any number of threads, and no atomics on a GPU.
struct NufftTables {
    std::int64_t grid = 0;            // points of the finer grid, the length of the transform
    std::vector<std::int32_t> begin;  // [grid + 1]
    std::vector<std::int32_t> samples;
    std::vector<std::complex<float>> weights;  // kernel, window or shaping, dispersion, share of the k grid
    bool real = true;                          // all weights are
    std::int64_t first_bin = 0;
    std::vector<float> correction;  // [depth]: 1 / transform of the kernel
};

// Whether this plan goes this way. Without a k map it does not: the plain transform is exact then.
bool uses_nufft(const ReconstructionPlan& plan);

// Length of the finer grid: even, and as many points as the oversampling asks for, or a few more.
std::int64_t nufft_grid(const NufftRecipe& recipe, std::int64_t transform);

// The plan is valid.
NufftTables nufft_tables(const ReconstructionPlan& plan);

}  // namespace echolux
