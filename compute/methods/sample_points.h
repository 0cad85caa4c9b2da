// The recorded samples as points of the k axis, for methods that transform them where they lie
// (docs/algorithms.md 4).
#pragma once

#include <complex>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

struct SamplePoints {
    std::vector<double> points;                 // where each sample lies on the uniform grid
    std::vector<std::complex<double>> weights;  // window or shaping, dispersion, share of the grid
};

// How much of the uniform grid each sample stands for: half the way from its left to its right neighbour.
std::vector<double> shares_of_grid(const std::vector<double>& points);

// Of a spec that is valid. Samples beyond the grid have no weight.
SamplePoints sample_points(const ReconstructionSpec& spec);

}  // namespace echolux
