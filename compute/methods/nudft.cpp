#include "compute/methods/nudft.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "compute/indexing.h"
#include "compute/methods/sample_points.h"
#include "compute/plan/choices.h"
#include "compute/plan/tables.h"

namespace echolux {
NudftMatrix::NudftMatrix(const ReconstructionSpec& spec) {
    const Lengths lengths = lengths_of(spec.geometry, spec.recipe);
    const DepthRange kept = kept_depth(spec.recipe, lengths.bins);
    first_bin_ = kept.begin;
    depth_ = kept.end - kept.begin;
    transform_ = static_cast<double>(lengths.transform);
    SamplePoints samples = sample_points(spec);
    points_ = std::move(samples.points);
    weights_ = std::move(samples.weights);
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

bool uses_nudft(const ReconstructionSpec& spec) {
    return chosen_resample(spec.recipe, spec.calibration) == Resample::nudft;
}

}  // namespace echolux
