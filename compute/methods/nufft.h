// The fast transform of a spectrum where it was sampled (docs/transforms.md 7; A. Dutt, V. Rokhlin, SIAM J. Sci.
// Comput. 14, 1368 (1993)): samples are spread over a finer uniform grid by a short kernel, transformed, and what the
// kernel did to each depth is divided out.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "compute/host_device.h"
#include "compute/methods/spread_samples.h"
#include "compute/plan/choices.h"
#include "compute/plan/params.h"

namespace echolux {

// The depth bins that a finer grid tells apart, and which of them is bin 0 of its transform. A real grid has the bins
// of both sides of zero delay, wanted or not. Where samples are complex those of one side are enough, which take half
// the points: turned so that the middle one lies at zero, the outermost ones are as far from the end of the grid's band
// as the deepest one of a real grid.
struct GridBand {
    std::int64_t bins = 0;
    std::int64_t middle = 0;
};

GridBand both_sides(std::int64_t transform);
GridBand one_side(std::int64_t bins);

// [points]: exp(-2 pi i middle x / length), what samples at points x of a k grid are multiplied by to turn bin `middle`
// to bin 0.
std::vector<std::complex<double>> turned_to_middle(const GridBand& band, const std::vector<double>& points,
                                                   std::int64_t length);

// Bin z of the depth among those of a transform of `grid` points whose bin 0 is `middle`.
ECHOLUX_HD inline std::int64_t bin_of_grid(std::int64_t z, std::int64_t middle, std::int64_t grid) {
    return z < middle ? z - middle + grid : z - middle;
}

struct NufftTables {
    std::vector<std::complex<float>> weights;  // [samples]: window or shaping, dispersion, share of the k grid, turn
    bool real = true;                          // all weights are
    std::int64_t grid = 0;                     // points of the finer grid, the length of the transform
    std::int64_t middle = 0;                   // see GridBand
    SpreadSamples spread;
    std::int64_t first_bin = 0;
    std::vector<float> correction;  // [depth]: 1 / transform of the kernel
};

// Whether this spec goes this way. Without a k map it does not: the plain transform is exact then.
bool uses_nufft(const ReconstructionSpec& spec);

// The spec is valid.
NufftTables nufft_tables(const ReconstructionSpec& spec);

// Samples at `points` of a k grid `length` points long, spread over a finer grid for the bins of `band`, and what that
// does to those of `kept`: correction multiplies it away.
struct FinerGrid {
    std::int64_t grid = 0;
    SpreadSamples spread;
    std::vector<float> correction;
};

FinerGrid finer_grid_of(const NufftRecipe& recipe, std::vector<double> points, std::int64_t length,
                        const GridBand& band, DepthRange kept);

}  // namespace echolux
