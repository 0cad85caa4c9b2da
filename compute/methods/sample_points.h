// Recorded samples as points on the k axis, for methods that transform them without resampling (docs/algorithms.md 4).
#pragma once

#include <complex>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

// Positions and weights, [samples] each.
struct SamplePoints {
    std::vector<double> points;                 // position of each sample on the uniform grid
    std::vector<std::complex<double>> weights;  // window or shaping, dispersion, share of the grid
};

// Returns the share of the uniform grid per sample: half the distance between its left and right neighbours.
std::vector<double> shares_of_grid(const std::vector<double>& points);

// Returns the points of a valid spec. Samples outside the grid get zero weight.
SamplePoints sample_points(const ReconstructionSpec& spec);

}  // namespace echolux
