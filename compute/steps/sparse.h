// The steps of a sparse search (docs/transforms.md 9), one depth bin at a time, and the rules that an A-scan follows:
// its scalars, the same for a thread of the CPU, a block of a GPU and a line of a batch. SpaRSA: S. J. Wright, R. D.
// Nowak, M. A. T. Figueiredo, IEEE Trans. Signal Process. 57, 2479 (2009).
#pragma once

#include <cmath>

#include "compute/host_device.h"
#include "compute/plan/params.h"
#include "compute/steps/phasor.h"

namespace echolux {

// A GPU has units for both, good to two units in the last place.
ECHOLUX_HD inline float length_of(float power) {
#ifdef __CUDA_ARCH__
    float length;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(length) : "f"(power));
    return length;
#else
    return std::sqrt(power);
#endif
}

ECHOLUX_HD inline float quotient(float a, float b) {
#ifdef __CUDA_ARCH__
    return __fdividef(a, b);
#else
    return a / b;
#endif
}

// Soft threshold of a complex number: shortens it by `least`, to nothing where it is not longer. This factor does it.
ECHOLUX_HD inline float kept_by_threshold(float length, float least) {
    const float rest = length - least;
    return rest > 0 ? quotient(rest, length) : 0;
}

// A bin other than the first stands for itself and its mirror image.
ECHOLUX_HD inline float share_of_norm(int bin) {
    return bin == 0 ? 1.0f : 2.0f;
}

// What a step s does to an A-scan, as sums over its bins and samples. GPUs sum in float, in a fixed order: 20 additions
// deep on the chip, 40 to 260 in passes, so that a sum is good to about 1e-6.
template <class Real>
struct StepSums {
    Real step = 0;        // |s|^2
    Real seen = 0;        // |A s|^2
    Real left = 0;        // |A x - y|^2 afterwards
    Real amplitudes = 0;  // of x, afterwards

    ECHOLUX_HD StepSums operator+(const StepSums& other) const {
        return {step + other.step, seen + other.seen, left + other.left, amplitudes + other.amplitudes};
    }
};

// One bin of a try: where it goes along the gradient, less the threshold, and how far that is.
struct TriedBin {
    Phasor next, step;

    template <class Real>
    ECHOLUX_HD TriedBin(Phasor now, Phasor gradient, float length, float threshold, int bin, StepSums<Real>& sums) {
        const Phasor moved{now.re - gradient.re * length, now.im - gradient.im * length};
        const float before = length_of(power_of(moved)), kept = kept_by_threshold(before, threshold);
        next = {moved.re * kept, moved.im * kept};
        step = {next.re - now.re, next.im - now.im};
        const auto share = static_cast<Real>(share_of_norm(bin));
        sums.step += share * static_cast<Real>(power_of(step));
        sums.amplitudes += share * static_cast<Real>(before) * static_cast<Real>(kept);
    }
};

// What a step changes in a sample.
template <class Real>
ECHOLUX_HD inline void add_change(float residual, float change, StepSums<Real>& sums) {
    const Real seen = static_cast<Real>(change), left = static_cast<Real>(residual) + seen;
    sums.seen += seen * seen;
    sums.left += left * left;
}

template <class Real>
class SearchRules {
  public:
    static constexpr int max_tries = 40;  // of one iteration, each half as long as the one before

    // largest: amplitude of the first gradient, a tau from which on nothing is found; energy: |y|^2.
    ECHOLUX_HD void begin(const CompressiveRecipe& recipe, Real largest, Real energy) {
        constexpr Real rounding = static_cast<Real>(1e-6);  // it leaves nothing, however amplitudes are rounded
        largest_tau_ = largest * (1 + rounding);
        last_tau_ =
            recipe.tau > 0 ? static_cast<Real>(recipe.tau) : static_cast<Real>(recipe.tau_relative) * largest_tau_;
        curvature_ = 1;
        left_ = energy;
        amplitudes_ = 0;
        for (Real& value : values_) value = 0;
    }

    // With continuation, tau falls from 0.8 of the largest geometrically to its last over the first 60 % of the
    // iterations.
    ECHOLUX_HD void begin_iteration(const CompressiveRecipe& recipe, std::int64_t iteration) {
        constexpr Real first = static_cast<Real>(0.8), share = static_cast<Real>(0.6);
        tau_ = last_tau_;
        if (!recipe.continuation || !(last_tau_ > 0) || !(largest_tau_ > 0)) return;
        const Real done = static_cast<Real>(iteration) / (share * static_cast<Real>(recipe.iterations));
        const Real falling = first * largest_tau_ * std::pow(last_tau_ / largest_tau_ / first, done);
        if (falling > tau_) tau_ = falling;
    }

    // A try goes so far along the gradient, and shortens each bin by so much.
    ECHOLUX_HD float length() const { return static_cast<float>(1 / curvature_); }
    ECHOLUX_HD float threshold() const { return static_cast<float>(tau_ / curvature_); }

    ECHOLUX_HD Real objective(const StepSums<Real>& sums) const { return sums.left / 2 + tau_ * sums.amplitudes; }

    // What is not a number is taken too: it gets no better.
    ECHOLUX_HD bool accepts(const CompressiveRecipe& recipe, const StepSums<Real>& sums) const {
        if (recipe.step == StepRule::clamped) return true;
        constexpr Real rounding = static_cast<Real>(1e-6), min_descent = static_cast<Real>(0.01);
        Real most = left_ / 2 + tau_ * amplitudes_;
        if (recipe.step == StepRule::safeguarded) {
            for (const Real value : values_) most = value > most ? value : most;
            most -= min_descent / 2 * curvature_ * sums.step;
        }
        return !(objective(sums) > most * (1 + rounding));
    }

    // The next try is half as long.
    ECHOLUX_HD void shorten() { curvature_ *= 2; }

    // The step is made: the next one goes as far as this one's curvature says (J. Barzilai, J. M. Borwein, IMA J.
    // Numer. Anal. 8, 141 (1988)), but bounded, or it may run away.
    ECHOLUX_HD void take(const CompressiveRecipe& recipe, const StepSums<Real>& sums) {
        constexpr Real greatest = static_cast<Real>(1e30);
        const Real least = static_cast<Real>(recipe.min_step);
        left_ = sums.left;
        amplitudes_ = sums.amplitudes;
        for (int i = memory - 1; i > 0; --i) values_[i] = values_[i - 1];
        values_[0] = objective(sums);
        if (!(sums.step > 0)) return;
        const Real found = sums.seen / sums.step;
        curvature_ = found < least ? least : found > greatest ? greatest : found;
    }

  private:
    static constexpr int memory = 5;  // values that a safeguarded step is compared with

    Real largest_tau_ = 0, last_tau_ = 0, tau_ = 0;
    Real curvature_ = 1;
    Real left_ = 0, amplitudes_ = 0;  // of the profile so far
    Real values_[memory] = {};        // of the objective, the latest first
};

}  // namespace echolux
