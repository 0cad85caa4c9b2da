// NUFFT tables for lines whose samples move on the k axis. Sample weights cannot be precomputed before the line is
// known, so the kernel and the spectral weight become functions that are fast to evaluate (docs/algorithms.md 7.1).
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <iterator>
#include <vector>

#include "compute/methods/k_jitter.h"
#include "compute/methods/nufft.h"
#include "compute/plan/cubic_pieces.h"
#include "compute/plan/params.h"

namespace echolux {

// Spreads the samples of a moved line to the finer grid.
struct MovedSpreading {
    // Function of s = sqrt(1 - (2d/W)^2), in which all kernels are smooth up to their ends
    CubicPiecesView<float> kernel;
    std::int64_t width = 1;
    std::int64_t grid = 0;    // points of the finer grid
    double ratio = 1;         // points of the finer grid per point of the k grid
    std::int64_t points = 0;  // points of the k grid

    // Returns whether a point is on the k grid. Samples outside it are ignored.
    ECHOLUX_HD bool holds(double point) const { return point >= -0.5 && point <= static_cast<double>(points) - 0.5; }

    // Returns the kernel at `distance` in points of the finer grid, at most half the width.
    ECHOLUX_HD float kernel_at(double distance) const {
        const double x = 2 * distance / static_cast<double>(width), square = 1 - x * x;
        return kernel(square > 0 ? sqrt(square) : 0.0);
    }
};

// Returns exp(-2 pi i cycles), from a table of one cycle.
ECHOLUX_HD_CALLER
template <class Pieces>
ECHOLUX_HD auto turn_of(const Pieces& pieces, double cycles) {
    return pieces(cycles - floor(cycles));
}

// Owns the tables of one plan.
struct MovedSamples {
    KJitter jitter;
    std::vector<double> points;                // position of each sample on the k grid, from the k map
    std::vector<float> shares;                 // share of the grid per sample
    CubicPieces<std::complex<float>> weights;  // window or shaping and dispersion, at any point of the k grid
    CubicPieces<std::complex<float>> turn;     // see turn_of()
    double cycles_a_point = 0;                 // phase per sample that centres the grid's band (GridBand)
    CubicPieces<float> kernel;                 // see MovedSpreading
    std::int64_t width = 1;
    std::int64_t grid = 0;
    double ratio = 1;

    MovedSpreading spreading() const { return {kernel.view(), width, grid, ratio, std::ssize(points)}; }
};

// Builds the tables for a valid spec with calibration.k_jitter, for the grid of `tables`.
MovedSamples moved_samples(const ReconstructionSpec& spec, const NufftTables& tables);

}  // namespace echolux
