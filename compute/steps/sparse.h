// Steps of the two iterative methods: compressive sensing and dispersion-encoded full range.
#pragma once

#include <cmath>
#include <cstdint>

#include "compute/host_device.h"
#include "compute/plan/params.h"
#include "compute/steps/depth.h"

namespace echolux {

// ---- Steps of a sparse search (docs/transforms.md 9) for one depth bin, and the scalar rules of one A-scan. They are
// shared by a CPU thread, a GPU block and a line of a batch. SpaRSA: S. J. Wright, R. D. Nowak, M. A. T. Figueiredo,
// IEEE Trans. Signal Process. 57, 2479 (2009).

// Square root. GPUs have special function units for this and for quotient(), accurate to two units in the last place.
ECHOLUX_HD inline float length_of(float power) {
#ifdef __CUDA_ARCH__
    float length;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(length) : "f"(power));
    return length;
#else
    return std::sqrt(power);
#endif
}

// Returns a / b, approximately on a GPU.
ECHOLUX_HD inline float quotient(float a, float b) {
#ifdef __CUDA_ARCH__
    return __fdividef(a, b);
#else
    return a / b;
#endif
}

// Returns the factor of a complex soft threshold, which shortens a number by the threshold, or to zero if it is not
// longer.
ECHOLUX_HD inline float kept_by_threshold(float length, float least) {
    const float rest = length - least;
    return rest > 0 ? quotient(rest, length) : 0;
}

// Weight of a bin in norms. All bins except the first also represent their mirror image.
ECHOLUX_HD inline float share_of_norm(int bin) {
    return bin == 0 ? 1.0f : 2.0f;
}

// Effect of a step s on an A-scan, as sums over its bins and samples. GPUs sum in float in a fixed order: chains of 20
// additions on chip and of 40 to 260 in passes, so a sum is accurate to about 1e-6.
template <class Real>
struct StepSums {
    Real step = 0;        // |s|^2
    Real seen = 0;        // |A s|^2
    Real left = 0;        // |A x - y|^2 after the step
    Real amplitudes = 0;  // sum of the amplitudes of x after the step

    ECHOLUX_HD StepSums operator+(const StepSums& other) const {
        return {step + other.step, seen + other.seen, left + other.left, amplitudes + other.amplitudes};
    }
};

// One bin of a trial step: its new value after the gradient step and threshold, and its change.
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

// Adds the effect of a step on one sample.
template <class Real>
ECHOLUX_HD inline void add_change(float residual, float change, StepSums<Real>& sums) {
    const Real seen = static_cast<Real>(change), left = static_cast<Real>(residual) + seen;
    sums.seen += seen * seen;
    sums.left += left * left;
}

// The scalar state of one A-scan's search: the regularization tau, the step length and the acceptance rule.
template <class Real>
class SearchRules {
  public:
    static constexpr int max_tries = 40;  // trials per iteration, each half as long as the previous

    // Starts a search. `largest` is the max amplitude of the first gradient: with tau at or above it the result is
    // zero. `energy` is |y|^2.
    ECHOLUX_HD void begin(const CompressiveRecipe& recipe, Real largest, Real energy) {
        // Margin that keeps the result zero despite rounding of amplitudes
        constexpr Real rounding = static_cast<Real>(1e-6);
        largest_tau_ = largest * (1 + rounding);
        last_tau_ =
            recipe.tau > 0 ? static_cast<Real>(recipe.tau) : static_cast<Real>(recipe.tau_relative) * largest_tau_;
        curvature_ = 1;
        left_ = energy;
        amplitudes_ = 0;
        for (Real& value : values_) value = 0;
    }

    // Sets tau of this iteration. With continuation, tau falls geometrically from 0.8 of the largest to its final value
    // over the first 60 % of the iterations.
    ECHOLUX_HD void begin_iteration(const CompressiveRecipe& recipe, std::int64_t iteration) {
        constexpr Real first = static_cast<Real>(0.8), share = static_cast<Real>(0.6);
        tau_ = last_tau_;
        if (!recipe.continuation || !(last_tau_ > 0) || !(largest_tau_ > 0)) return;
        const Real done = static_cast<Real>(iteration) / (share * static_cast<Real>(recipe.iterations));
        const Real falling = first * largest_tau_ * std::pow(last_tau_ / largest_tau_ / first, done);
        if (falling > tau_) tau_ = falling;
    }

    // Step length along the gradient, and the soft threshold applied to each bin.
    ECHOLUX_HD float length() const { return static_cast<float>(1 / curvature_); }
    ECHOLUX_HD float threshold() const { return static_cast<float>(tau_ / curvature_); }

    // Returns |A x - y|^2 / 2 + tau * sum of amplitudes.
    ECHOLUX_HD Real objective(const StepSums<Real>& sums) const { return sums.left / 2 + tau_ * sums.amplitudes; }

    // Returns whether a trial is accepted. NaN is accepted: retrying cannot help.
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

    // Halves the length of the next trial.
    ECHOLUX_HD void shorten() { curvature_ *= 2; }

    // Accepts a step. The next step length follows from the curvature of this one (J. Barzilai, J. M. Borwein, IMA J.
    // Numer. Anal. 8, 141 (1988)), bounded so that the search cannot diverge.
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
    static constexpr int memory = 5;  // past objectives that a safeguarded step is compared with

    Real largest_tau_ = 0, last_tau_ = 0, tau_ = 0;
    Real curvature_ = 1;
    Real left_ = 0, amplitudes_ = 0;  // values of the current profile
    Real values_[memory] = {};        // past objectives, most recent first
};

// ---- Steps of one iteration of dispersion-encoded full range (docs/transforms.md 8), for a single bin or point.

// Returns the power of a bin. The fused multiply-add is explicit so that the search for the strongest bin and the later
// comparison with it see the same bits.
template <class Real>
ECHOLUX_HD Real power_of_bin(Real re, Real im) {
#ifdef __CUDA_ARCH__
    return fma(re, re, im * im);
#else
    return re * re + im * im;
#endif
}

// Returns whether a bin of the given power belongs to a peak, relative to the power of the strongest bin.
template <class Real>
struct PeakDetector {
    Real least;  // threshold^2 * strongest

    ECHOLUX_HD PeakDetector(Real threshold, Real strongest) : least(threshold * threshold * strongest) {}
    ECHOLUX_HD bool operator()(Real power) const { return power >= least; }
};

// Returns the contribution of peaks to a real spectrum, including both images of each peak: 2 Re(peaks * exp(i theta)),
// where `peaks` is their inverse transform.
template <class Real>
ECHOLUX_HD Real shown_by(Real peaks_re, Real peaks_im, Real rotation_re, Real rotation_im) {
    return 2 * (peaks_re * rotation_re - peaks_im * rotation_im);
}

// Returns the transform index of output bin z. Output bins are counted from the far end of negative delays, and the
// transform has n points.
ECHOLUX_HD inline std::int64_t bin_of_transform(std::int64_t z, std::int64_t n) {
    const std::int64_t shifted = z - n / 2;
    return shifted < 0 ? shifted + n : shifted;
}

}  // namespace echolux
