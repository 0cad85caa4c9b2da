#include "compute/methods/nudft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compute/indexing.h"
#include "compute/tables.h"
#include "compute/validate.h"

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

NudftMatrix::NudftMatrix(const ReconstructionPlan& plan) {
    const Lengths lengths = lengths_of(plan.geometry, plan.recipe);
    const DepthRange kept = kept_depth(plan.recipe, lengths.bins);
    first_bin_ = kept.begin;
    depth_ = kept.end - kept.begin;
    transform_ = static_cast<double>(lengths.transform);
    const KGrid grid = k_grid(plan.calibration, plan.geometry.samples);
    const SpectrumPoints points = points_of_samples(plan.calibration, grid);
    points_ = points.on_grid;
    weights_ = spectral_weight_at(points, plan.recipe, plan.calibration, grid);
    const std::vector<double> shares = shares_of_grid(points_);
    for (std::size_t p = 0; p < weights_.size(); ++p) weights_[p] *= shares[p];
}

std::complex<double> NudftMatrix::at(std::int64_t z, std::int64_t p) const {
    const double turns = static_cast<double>(first_bin_ + z) * points_[index(p)] / transform_;
    return std::polar(1.0, -2 * std::numbers::pi * (turns - std::nearbyint(turns))) * weights_[index(p)];
}

double NudftMatrix::largest() const {
    double largest = 0;
    for (const std::complex<double>& weight : weights_) largest = std::max(largest, std::abs(weight));
    return largest;
}

bool uses_nudft(const ReconstructionPlan& plan) {
    return chosen_resample(plan.recipe, plan.calibration) == Resample::nudft;
}

}  // namespace echolux
