#include "compute/methods/sample_points.h"

#include <algorithm>
#include <cmath>

#include "compute/plan/tables.h"

namespace echolux {

std::vector<double> shares_of_grid(const std::vector<double>& points) {
    const std::size_t n = points.size();
    std::vector<double> shares(n);
    for (std::size_t p = 0; p < n; ++p) {
        const std::size_t left = p == 0 ? 0 : p - 1;
        const std::size_t right = std::min(p + 1, n - 1);
        shares[p] = std::abs(points[right] - points[left]) / static_cast<double>(right - left);
    }
    return shares;
}

SamplePoints sample_points(const ReconstructionSpec& spec) {
    const KGrid grid = k_grid(spec.calibration, spec.geometry.samples);
    const SpectrumPoints points = points_of_samples(spec.calibration, grid);
    SamplePoints samples{points.on_grid, spectral_weight_at(points, spec.recipe, spec.calibration, grid)};
    const std::vector<double> shares = shares_of_grid(samples.points);
    const double end = static_cast<double>(shares.size()) - 0.5;
    for (std::size_t p = 0; p < shares.size(); ++p) {
        const bool on_grid = samples.points[p] >= -0.5 && samples.points[p] <= end;
        samples.weights[p] *= on_grid ? shares[p] : 0;
    }
    return samples;
}

}  // namespace echolux
