// What the NUFFT needs where the samples of each line lie elsewhere on the k axis: nothing of a sample's weights can be
// computed before its line is known, so kernel and spectral weight become functions that are quick to evaluate
// (docs/transforms.md 7.1).
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

// Where samples of a line spread to.
struct MovedSpreading {
    CubicPiecesView<float> kernel;  // of s = sqrt(1 - (2d/W)^2): all kernels are smooth in s up to their ends
    std::int64_t width = 1;
    std::int64_t grid = 0;    // points of the finer grid
    double ratio = 1;         // of its points to those of the k grid
    std::int64_t points = 0;  // of the k grid

    // Of the k grid; samples beyond it count nothing.
    ECHOLUX_HD bool holds(double point) const { return point >= -0.5 && point <= static_cast<double>(points) - 0.5; }

    // `distance` in points of the finer grid, at most half the width.
    ECHOLUX_HD float kernel_at(double distance) const {
        const double x = 2 * distance / static_cast<double>(width), square = 1 - x * x;
        return kernel(square > 0 ? sqrt(square) : 0.0);
    }
};

// exp(-2 pi i cycles), by pieces of one cycle.
ECHOLUX_HD_CALLER
template <class Pieces>
ECHOLUX_HD auto turn_of(const Pieces& pieces, double cycles) {
    return pieces(cycles - floor(cycles));
}

struct MovedSamples {
    KJitter jitter;
    std::vector<double> points;                // where each sample lies on the k grid by the k map
    std::vector<float> shares;                 // of the grid, of each sample
    CubicPieces<std::complex<float>> weights;  // window or shaping, dispersion: at any place of the k grid
    CubicPieces<std::complex<float>> turn;     // see turn_of()
    double cycles_a_point = 0;                 // of a sample's turn to the middle of the grid's band (GridBand)
    CubicPieces<float> kernel;                 // see MovedSpreading
    std::int64_t width = 1;
    std::int64_t grid = 0;
    double ratio = 1;

    MovedSpreading spreading() const { return {kernel.view(), width, grid, ratio, std::ssize(points)}; }
};

// Of a spec that is valid and has calibration.k_jitter, for the grid of `tables`.
MovedSamples moved_samples(const ReconstructionSpec& spec, const NufftTables& tables);

}  // namespace echolux
