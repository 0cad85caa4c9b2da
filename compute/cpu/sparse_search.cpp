#include "compute/cpu/sparse_search.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "compute/indexing.h"

namespace echolux::cpu {
namespace {

// std::abs() guards against overflow, which counts cannot cause, and is ten times slower.
float length_of(const std::complex<float>& bin) {
    return echolux::length_of(std::norm(bin));
}

Phasor phasor(const std::complex<float>& bin) {
    return {bin.real(), bin.imag()};
}

}  // namespace

SparseSearch::SparseSearch(std::unique_ptr<Sensing> sensing, const CompressiveRecipe& recipe, std::int64_t samples,
                           std::int64_t modes)
    : sensing_(std::move(sensing)), recipe_(recipe), profile_(index(modes)), gradient_(index(modes)),
      next_(index(modes)), step_(index(modes)), residual_(index(samples)), change_(index(samples)) {
    objectives_.reserve(index(recipe.iterations));
}

// The residual A x - y starts at -y, because the search starts with an empty profile.
const std::vector<std::complex<float>>& SparseSearch::run(const float* samples) {
    std::ranges::fill(profile_, std::complex<float>{});
    std::transform(samples, samples + residual_.size(), residual_.begin(), std::negate<float>{});
    objectives_.clear();
    max_tries_ = 0;
    for (std::int64_t i = 0; i < recipe_.iterations; ++i) {
        sensing_->to_depth(residual_.data(), gradient_.data());
        if (i == 0) begin();
        rules_.begin_iteration(recipe_, i);
        StepSums<double> sums = tried();
        int tries = 1;
        for (; tries < rules_.max_tries && !rules_.accepts(recipe_, sums); ++tries) {
            rules_.shorten();
            sums = tried();
        }
        max_tries_ = std::max(max_tries_, tries);
        profile_.swap(next_);
        for (std::size_t p = 0; p < residual_.size(); ++p) residual_[p] += change_[p];
        objectives_.push_back(rules_.objective(sums));
        rules_.take(recipe_, sums);
    }
    return profile_;
}

void SparseSearch::begin() {
    float largest = 0;
    double energy = 0;
    for (const auto& value : gradient_) largest = std::max(largest, length_of(value));
    for (const float value : residual_) energy += static_cast<double>(value) * static_cast<double>(value);
    rules_.begin(recipe_, static_cast<double>(largest), energy);
}

// Computes a trial step along the gradient with the threshold: next_, step_, change_.
StepSums<double> SparseSearch::tried() {
    const float length = rules_.length(), min = rules_.threshold();
    StepSums<double> sums;
    for (std::size_t m = 0; m < profile_.size(); ++m) {
        const TriedBin bin(phasor(profile_[m]), phasor(gradient_[m]), length, min, static_cast<int>(m), sums);
        next_[m] = {bin.next.re, bin.next.im};
        step_[m] = {bin.step.re, bin.step.im};
    }
    sensing_->to_samples(step_.data(), change_.data());
    for (std::size_t p = 0; p < residual_.size(); ++p) add_change(residual_[p], change_[p], sums);
    return sums;
}

}  // namespace echolux::cpu
