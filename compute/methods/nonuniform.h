// Fast transform at the recorded sample positions (docs/transforms.md 7; A. Dutt, V. Rokhlin, SIAM J. Sci. Comput. 14,
// 1368 (1993)): a short kernel spreads samples over a finer uniform grid, an FFT transforms the grid, and dividing by
// the kernel's transform removes its effect on each depth.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "compute/host_device.h"
#include "compute/plan/choices.h"
#include "compute/plan/params.h"

namespace echolux {

// ---- Spreading kernels of the NUFFT (docs/transforms.md 7), which distribute a sample over the neighbouring points of
// a uniform grid. Gaussian: L. Greengard, J.-Y. Lee, SIAM Rev. 46, 443 (2004). Kaiser-Bessel: J. I. Jackson et al.,
// IEEE Trans. Med. Imaging 10, 473 (1991); P. J. Beatty et al., ibid. 24, 799 (2005). Exponential of a semicircle: A.
// Barnett, J. Magland, L. af Klinteberg, SIAM J. Sci. Comput. 41, C479 (2019).

// A kernel over `width` points of the finer grid, and its Fourier transform. The described limits W >= 2 and R >= 1.25
// keep the Kaiser-Bessel parameter beta = pi sqrt((W/R)^2 (R - 1/2)^2 - 0.8) real.
class SpreadingKernel {
  public:
    explicit SpreadingKernel(const NufftRecipe& recipe);

    double at(double distance) const;                 // distance in points of the finer grid; 0 beyond width / 2
    double transform(double cycles_per_point) const;  // Fourier transform of at()
    std::int64_t width() const { return static_cast<std::int64_t>(width_); }

  private:
    GridKernel kernel_;
    double width_;
    double shape_;  // b of the Gaussian, beta of the others
};

// Returns the length of the finer grid: the transform length times the oversampling, rounded up to an even number.
std::int64_t finer_grid(const NufftRecipe& recipe, std::int64_t transform);

// ---- Tables that spread samples at arbitrary points over a uniform circular grid and interpolate from it. The NUFFT
// consists of these two steps and a transform.

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

// ---- Spreading to the finer grid of a NUFFT in the layout for GPUs: each point gathers the same number of
// neighbouring real samples with complex weights. If the sample weights are real, the grid is real and two of its
// points form one complex point of a transform of half the length (compute/cuda/transform.h).

// Point j of the transform is the sum over m < taps of weights[m * points + j] * sample[base[j] + m], where samples
// repeat from the first after the last. Bin z of the transform is depth bin z, regardless of the tables' `middle`.
struct GridTaps {
    std::int64_t points = 0;  // length of the transform
    std::int64_t taps = 1;
    std::int64_t repeated = 0;                 // samples read beyond the last
    std::vector<std::int32_t> base;            // [points]
    std::vector<std::complex<float>> weights;  // [taps][points]
};

// Builds the taps.
GridTaps grid_taps(const NufftTables& tables);

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

// ---- Recorded samples as points on the k axis, for methods that transform them without resampling (docs/algorithms.md
// 4).

// Positions and weights, [samples] each.
struct SamplePoints {
    std::vector<double> points;                 // position of each sample on the uniform grid
    std::vector<std::complex<double>> weights;  // window or shaping, dispersion, share of the grid
};

// Returns the share of the uniform grid per sample: half the distance between its left and right neighbours.
std::vector<double> shares_of_grid(const std::vector<double>& points);

// Returns the points of a valid spec. Samples outside the grid get zero weight.
SamplePoints sample_points(const ReconstructionSpec& spec);

// ---- Exact transform at the recorded sample positions (docs/algorithms.md 4). One matrix combines all linear steps
// from the background-subtracted sample to the depth bin, so nothing is interpolated and only the kept bins have rows.

// bin[z] = sum over p of at(z, p) * (I[p] - b[p]). As with every method, not divided by the sum of the window.
class NudftMatrix {
  public:
    // The spec must be valid.
    explicit NudftMatrix(const ReconstructionSpec& spec);

    std::int64_t depth() const { return depth_; }  // rows: kept depth bins
    // Columns: recorded samples.
    std::int64_t samples() const { return std::ssize(points_); }

    // Returns one element. z counts kept bins.
    std::complex<double> at(std::int64_t z, std::int64_t p) const;

    // Returns an upper bound of the magnitude of all elements.
    double largest() const;

  private:
    std::int64_t first_bin_;
    std::int64_t depth_;
    double transform_;                           // length, in points of the uniform grid
    std::vector<double> points_;                 // position of each sample on the uniform grid
    std::vector<std::complex<double>> weights_;  // window or shaping, dispersion, share of the grid
};

// Returns whether a spec uses the matrix. Without a k map it does not, because the plain transform is then exact.
bool uses_nudft(const ReconstructionSpec& spec);

// Max number of matrix elements: 2 GiB on the CPU.
inline constexpr std::int64_t max_nudft_elements = std::int64_t{1} << 28;

}  // namespace echolux
