#include "engine/validation/interpolation.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "compute/plan/cubic.h"
#include "engine/validation/validation_run.h"

namespace echolux {
namespace {

// Cubic B-spline.
double b_spline(double x) {
    x = std::abs(x);
    if (x < 1) return 2.0 / 3 - x * x + x * x * x / 2;
    return x < 2 ? std::pow(2 - x, 3) / 6 : 0;
}

// Returns the weights of the spline through all samples, which change by a factor of sqrt(3) - 2 per sample (M. Unser,
// IEEE Signal Process. Mag. 16(6), 1999).
InterpolationWeights spline_weights(double t) {
    constexpr std::int64_t reach = 12;
    const double fall = std::numbers::sqrt3 - 2;
    InterpolationWeights found{-reach, {}};
    for (std::int64_t m = -reach; m <= reach + 1; ++m) {
        double weight = 0;
        for (std::int64_t k = -1; k <= 2; ++k) {
            const auto distance = static_cast<double>(std::abs(k - m));
            weight += std::numbers::sqrt3 * std::pow(fall, distance) * b_spline(t - static_cast<double>(k));
        }
        found.weights.push_back(weight);
    }
    return found;
}

// Samples of the envelope in ascending order of their position on the k grid.
struct Samples {
    std::vector<double> place;  // on the grid, ascending
    std::vector<double> light;  // light times window: the envelope without the share of the grid
};

// Divides the envelope by each sample's share of the grid, which interpolation does not weight.
Samples samples_of(const Envelope& envelope) {
    Samples samples{envelope.points, envelope.weights};
    const std::vector<double> share = share_of_grid(envelope.points);
    for (std::size_t p = 0; p < share.size(); ++p) samples.light[p] /= share[p];
    if (samples.place.front() > samples.place.back()) {
        std::ranges::reverse(samples.place);
        std::ranges::reverse(samples.light);
    }
    return samples;
}

}  // namespace

InterpolationWeights interpolation_weights(Resample resample, double t) {
    const double t2 = t * t, t3 = t2 * t;
    switch (resample) {
        case Resample::nearest: return t < 0.5 ? InterpolationWeights{0, {1}} : InterpolationWeights{1, {1}};
        case Resample::linear: return {0, {1 - t, t}};
        case Resample::catmull_rom:
            return {-1, {(-t3 + 2 * t2 - t) / 2, (3 * t3 - 5 * t2 + 2) / 2, (-3 * t3 + 4 * t2 + t) / 2, (t3 - t2) / 2}};
        case Resample::lagrange3:
            return {-1,
                    {-t * (t - 1) * (t - 2) / 6, (t + 1) * (t - 1) * (t - 2) / 2, -(t + 1) * t * (t - 2) / 2,
                     (t + 1) * t * (t - 1) / 6}};
        case Resample::spline: return spline_weights(t);
        default: return {0, {1}};
    }
}

InterpolatedFringe::InterpolatedFringe(const ResamplingMethod& method, const Envelope& envelope, double bin,
                                       double length)
    : bin_(bin), length_(length) {
    const Samples samples = samples_of(envelope);
    std::vector<double> counted(samples.place.size());
    std::iota(counted.begin(), counted.end(), 0.0);
    const CubicSpline sample_at(samples.place, counted), place_at(counted, samples.place);
    const auto fine = static_cast<double>(method.upsample);
    first_ = std::ceil(samples.place.front());
    for (double j = first_; j < std::min(samples.place.back(), length); ++j) {
        const double sample = std::clamp(sample_at(j), 0.0, counted.back() - 1e-9), before = std::floor(sample * fine);
        const auto left = static_cast<std::size_t>(sample);
        const double light = std::lerp(samples.light[left], samples.light[left + 1], sample - std::floor(sample));
        const InterpolationWeights at = interpolation_weights(method.resample, sample * fine - before);
        std::complex<double> value;
        for (std::size_t m = 0; m < at.weights.size(); ++m) {
            const double place = (before + static_cast<double>(at.first) + static_cast<double>(m)) / fine;
            const double turn = 2 * std::numbers::pi * bin / length * place_at(std::clamp(place, 0.0, counted.back()));
            value += at.weights[m] * std::polar(1.0, turn);
        }
        on_grid_.push_back(light * value);
        whole_ += light;
    }
}

double InterpolatedFringe::level() const {
    const std::complex<double> step = std::polar(1.0, -2 * std::numbers::pi * bin_ / length_);
    std::complex<double> sum, turn = std::polar(1.0, -2 * std::numbers::pi * bin_ / length_ * first_);
    for (const std::complex<double>& value : on_grid_) {
        sum += value * turn;
        turn *= step;
    }
    return std::abs(sum) / whole_;
}

double InterpolatedFringe::side_lobe_db(double main_lobe_bins, std::int64_t begin) const {
    double max = 0;
    for (auto z = static_cast<double>(begin); z < length_ / 2; ++z) {
        if (std::abs(z - bin_) >= main_lobe_bins) max = std::max(max, std::abs(transformed(z)));
    }
    return decibels(max / std::abs(transformed(bin_)));
}

std::complex<double> InterpolatedFringe::transformed(double bin) const {
    const std::complex<double> step = std::polar(1.0, -2 * std::numbers::pi * bin / length_);
    std::complex<double> sum, turn = 2;
    for (const std::complex<double>& value : on_grid_) {
        sum += value.real() * turn;
        turn *= step;
    }
    return sum;
}

}  // namespace echolux
