#include "compute/cpu/sparse_search.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "compute/indexing.h"
#include "compute/steps/sparse.h"

namespace echolux {
namespace {

constexpr double greatest_curvature = 1e30;
constexpr int most_tries = 40;        // of one iteration, each half as long as the one before
constexpr std::ptrdiff_t memory = 5;  // values that a safeguarded step is compared with
constexpr double least_descent = 0.01;

// std::abs() guards against overflow, which counts never reach, and takes ten times as long.
float length_of(const std::complex<float>& bin) {
    return std::sqrt(std::norm(bin));
}

}  // namespace

SparseSearch::SparseSearch(std::unique_ptr<Sensing> sensing, const CompressiveRecipe& recipe, std::int64_t samples,
                           std::int64_t modes)
    : sensing_(std::move(sensing)), recipe_(recipe), profile_(index(modes)), gradient_(index(modes)),
      next_(index(modes)), step_(index(modes)), residual_(index(samples)), change_(index(samples)) {
    objectives_.reserve(index(recipe.iterations));
}

const std::vector<std::complex<float>>& SparseSearch::run(const float* samples) {
    std::ranges::fill(profile_, std::complex<float>{});
    std::transform(samples, samples + residual_.size(), residual_.begin(), std::negate<float>{});
    objectives_.clear();
    double curvature = 1;
    for (std::int64_t i = 0; i < recipe_.iterations; ++i) {
        sensing_->to_depth(residual_.data(), gradient_.data());
        if (i == 0) {
            float largest = 0;
            for (const auto& value : gradient_) largest = std::max(largest, length_of(value));
            largest_tau_ = static_cast<double>(largest);
            tau_ = recipe_.tau > 0 ? recipe_.tau : recipe_.tau_relative * largest_tau_;
        }
        const double tau = tau_at(i);
        Norms norms = tried(curvature, tau);
        for (int tries = 1; tries < most_tries && !is_accepted(norms, tau, curvature); ++tries) {
            curvature *= 2;
            norms = tried(curvature, tau);
        }
        profile_.swap(next_);
        for (std::size_t p = 0; p < residual_.size(); ++p) residual_[p] += change_[p];
        objectives_.push_back(norms.value);
        if (norms.step > 0) curvature = std::clamp(norms.seen / norms.step, recipe_.least_step, greatest_curvature);
    }
    return profile_;
}

// With continuation, from 0.8 of the largest geometrically down to tau over the first 60 % of the iterations.
double SparseSearch::tau_at(std::int64_t iteration) const {
    constexpr double first = 0.8, share = 0.6;
    if (!recipe_.continuation || !(tau_ > 0) || !(largest_tau_ > 0)) return tau_;
    const double done = static_cast<double>(iteration) / (share * static_cast<double>(recipe_.iterations));
    return std::max(tau_, first * largest_tau_ * std::pow(tau_ / largest_tau_ / first, done));
}

// The profile after a step along the gradient, divided by the curvature, and the threshold: next_, step_, change_.
SparseSearch::Norms SparseSearch::tried(double curvature, double tau) {
    const auto length = static_cast<float>(1 / curvature), least = static_cast<float>(tau / curvature);
    Norms norms;
    double amplitudes = 0;
    for (std::size_t m = 0; m < profile_.size(); ++m) {
        const std::complex<float> moved = profile_[m] - length * gradient_[m];
        next_[m] = moved * kept_by_threshold(length_of(moved), least);
        step_[m] = next_[m] - profile_[m];
        const double share = share_of_norm(static_cast<int>(m));
        norms.step += share * static_cast<double>(std::norm(step_[m]));
        amplitudes += share * static_cast<double>(length_of(next_[m]));
    }
    sensing_->to_samples(step_.data(), change_.data());
    double left = 0;
    for (std::size_t p = 0; p < residual_.size(); ++p) {
        const auto change = static_cast<double>(change_[p]), after = static_cast<double>(residual_[p]) + change;
        norms.seen += change * change;
        left += after * after;
    }
    norms.value = left / 2 + tau * amplitudes;
    return norms;
}

bool SparseSearch::is_accepted(const Norms& norms, double tau, double curvature) const {
    constexpr double rounding = 1e-6;
    if (recipe_.step == StepRule::clamped) return true;
    double most = value_with(tau);
    if (recipe_.step == StepRule::safeguarded) {
        const auto first = objectives_.end() - std::min(memory, std::ssize(objectives_));
        for (auto value = first; value != objectives_.end(); ++value) most = std::max(most, *value);
        most -= least_descent / 2 * curvature * norms.step;
    }
    return norms.value <= most * (1 + rounding);
}

// Of the profile so far.
double SparseSearch::value_with(double tau) const {
    double left = 0, amplitudes = 0;
    for (const float value : residual_) left += static_cast<double>(value) * static_cast<double>(value);
    for (std::size_t m = 0; m < profile_.size(); ++m) {
        amplitudes += share_of_norm(static_cast<int>(m)) * static_cast<double>(length_of(profile_[m]));
    }
    return left / 2 + tau * amplitudes;
}

}  // namespace echolux
