#include "compute/methods/sample_points.h"

#include <algorithm>
#include <cmath>

#include "compute/tables.h"

namespace echolux {
namespace {

// How much of the uniform grid each sample stands for: half the way from its left to its right neighbour. None where
// the sample lies beyond the grid.
std::vector<double> shares_of_grid(const std::vector<double>& points) {
    const std::size_t n = points.size();
    const double end = static_cast<double>(n) - 0.5;
    std::vector<double> shares(n);
    for (std::size_t p = 0; p < n; ++p) {
        const std::size_t left = p == 0 ? 0 : p - 1;
        const std::size_t right = std::min(p + 1, n - 1);
        const bool on_grid = points[p] >= -0.5 && points[p] <= end;
        shares[p] = on_grid ? std::abs(points[right] - points[left]) / static_cast<double>(right - left) : 0;
    }
    return shares;
}

}  // namespace

SamplePoints sample_points(const ReconstructionPlan& plan) {
    const KGrid grid = k_grid(plan.calibration, plan.geometry.samples);
    const SpectrumPoints points = points_of_samples(plan.calibration, grid);
    SamplePoints samples{points.on_grid, spectral_weight_at(points, plan.recipe, plan.calibration, grid)};
    const std::vector<double> shares = shares_of_grid(samples.points);
    for (std::size_t p = 0; p < shares.size(); ++p) samples.weights[p] *= shares[p];
    return samples;
}

}  // namespace echolux
