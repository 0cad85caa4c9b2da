// Fast transform at the recorded sample positions (docs/algorithms.md 7; A. Dutt, V. Rokhlin, SIAM J. Sci. Comput. 14,
// 1368 (1993)): a short kernel spreads samples over a finer uniform grid, an FFT transforms the grid, and dividing by
// the kernel's transform removes its effect on each depth.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "compute/host_device.h"
#include "compute/methods/spread_samples.h"
#include "compute/plan/choices.h"
#include "compute/plan/params.h"

namespace echolux {

// The depth bins that a finer grid resolves, and which of them is bin 0 of its transform. A real grid has the bins of
// both sides of zero delay. Complex samples need only one side, which halves the grid: the spectrum is shifted so that
// the middle bin is at zero, and the outermost bins are then as far from the end of the grid's band as the deepest bin
// of a real grid.
struct GridBand {
    std::int64_t bins = 0;
    std::int64_t middle = 0;
};

// Bands of a real grid (all bins of the transform) and of a complex grid.
GridBand both_sides(std::int64_t transform);
GridBand one_side(std::int64_t bins);

// Returns exp(-2 pi i middle x / length) for samples at points x of a k grid. Multiplying the samples by it shifts bin
// `middle` to bin 0.
std::vector<std::complex<double>> turned_to_middle(const GridBand& band, const std::vector<double>& points,
                                                   std::int64_t length);

// Returns the index of depth bin z in a transform of `grid` points whose bin 0 is `middle`.
ECHOLUX_HD inline std::int64_t bin_of_grid(std::int64_t z, std::int64_t middle, std::int64_t grid) {
    return z < middle ? z - middle + grid : z - middle;
}

// Tables of one plan, shared by all backends.
struct NufftTables {
    std::vector<std::complex<float>> weights;  // [samples]: window or shaping, dispersion, share of the k grid, shift
    bool real = true;                          // all weights are real
    std::int64_t grid = 0;                     // points of the finer grid, the length of the transform
    std::int64_t middle = 0;                   // see GridBand
    SpreadSamples spread;
    std::int64_t first_bin = 0;
    std::vector<float> correction;  // [depth]: 1 / transform of the kernel
};

// Returns whether a spec uses the NUFFT. Without a k map it does not, because the plain transform is then exact.
bool uses_nufft(const ReconstructionSpec& spec);

// Builds the tables of a valid spec.
NufftTables nufft_tables(const ReconstructionSpec& spec);

// A finer grid for samples on a k grid: the spreading of the samples, and the factors that undo its effect on the kept
// bins.
struct FinerGrid {
    std::int64_t grid = 0;
    SpreadSamples spread;
    std::vector<float> correction;
};

// Builds the finer grid for samples at `points` of a k grid of `length` points. The grid resolves `band`, and
// `correction` covers the bins of `kept`.
FinerGrid finer_grid_of(const NufftRecipe& recipe, std::vector<double> points, std::int64_t length,
                        const GridBand& band, DepthRange kept);

}  // namespace echolux
