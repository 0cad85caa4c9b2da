// How repeats of a B-scan are laid over one another before they are compared (docs/angiography.md): fractions of a
// sample by interpolation around a carrier, coherence that does not see bulk motion, and the phase of that motion.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "compute/host_device.h"
#include "compute/steps/flow.h"
#include "compute/steps/phasor.h"
#include "compute/steps/registration.h"

namespace echolux {

// A shift to move by: as good as whole is whole.
ECHOLUX_HD inline double settled(double shift) {
    constexpr double min_fraction = 1e-3;
    const double whole = std::round(shift);
    return std::abs(shift - whole) < min_fraction ? whole : shift;
}

// Samples [begin, end) of `count` for which a repeat that is moved by `shift` has samples.
struct KnownSamples {
    std::int64_t begin = 0, end = 0;

    ECHOLUX_HD KnownSamples(double shift, std::int64_t count) {
        constexpr std::int64_t lost_at_edges = 2;  // samples that interpolation spoils
        const double by = settled(shift);
        const std::int64_t edge = by == std::round(by) ? 0 : lost_at_edges;
        const std::int64_t first = static_cast<std::int64_t>(std::ceil(-by)) + edge;
        const std::int64_t last = count - static_cast<std::int64_t>(std::ceil(by)) - edge;
        begin = first > 0 ? first : 0;
        end = last < count ? last : count;
    }
};

// Weights that make the sample `by` samples on: a sinc under a Hann window, good to 1 % up to a third of a cycle a
// sample around the carrier, by whose `turns` the signal falls back from sample to sample (depth bins of a spectrum:
// half a turn).
struct ShiftTaps {
    static constexpr int count = 12;
    std::int64_t first = 0;  // sample of the first weight, from the sample that is made
    Phasor tap[count];

    ShiftTaps() = default;
    ECHOLUX_HD ShiftTaps(double by, double turns) : first(first_of(by)) {
        for (int n = 0; n < count; ++n) tap[n] = weight(by, turns, n);
    }

    ECHOLUX_HD static std::int64_t first_of(double by) {
        return static_cast<std::int64_t>(std::floor(by)) - count / 2 + 1;
    }
    ECHOLUX_HD static Phasor weight(double by, double turns, int n) {
        constexpr double pi = std::numbers::pi;
        const double t = by - static_cast<double>(first_of(by) + n);
        const double sinc = t == 0 ? 1 : std::sin(pi * t) / (pi * t);
        const double hann = std::cos(pi * t / count);
        const double size = sinc * hann * hann;
        return {static_cast<float>(size * std::cos(2 * pi * turns * t)),
                static_cast<float>(-size * std::sin(2 * pi * turns * t))};
    }
};

// Adds tap times value.
ECHOLUX_HD inline void add_product(Phasor& sum, Phasor tap, Phasor value) {
    sum.re += tap.re * value.re - tap.im * value.im;
    sum.im += tap.re * value.im + tap.im * value.re;
}

// Adds a conj(b).
ECHOLUX_HD inline void add_difference(Phasor& sum, Phasor a, Phasor b) {
    sum.re = multiply_add(a.re, b.re, multiply_add(a.im, b.im, sum.re));
    sum.im = multiply_add(a.im, b.re, multiply_add(-a.re, b.im, sum.im));
}

// The fraction of a sample, from -1 to 1, at which coherence_at(fraction) is greatest: quarters, then parabolas.
ECHOLUX_HD_CALLER
template <class CoherenceAt>
ECHOLUX_HD double best_fraction(const CoherenceAt& coherence_at) {
    constexpr int quarters = 3;  // on either side
    double best = 0, most = coherence_at(0.0);
    for (int i = -quarters; i <= quarters; ++i) {
        const double found = coherence_at(0.25 * i);
        if (!(found > most)) continue;
        most = found;
        best = 0.25 * i;
    }
    for (int i = 0; i < 2; ++i) {
        const double step = i == 0 ? 0.2 : 0.1;
        const double left = coherence_at(best - step), right = coherence_at(best + step), here = coherence_at(best);
        best += step * static_cast<double>(parabola_peak(static_cast<float>((left - here) / most), 0,
                                                         static_cast<float>((right - here) / most)));
    }
    return best;
}

// What one bin adds to the bulk phase of an A-scan, given the estimate of the pass before, {0, 0} in the first: tissue
// that turns otherwise than the estimate flows, and is left out.
struct RepeatPhaseShare {
    static constexpr int passes = 3;
    static constexpr float cosine_of_max = 0.69670671f;  // 0.8 rad
    float min_power = 0;

    // Without branches, so that a loop over bins takes many at once.
    ECHOLUX_HD Phasor operator()(Phasor reference, Phasor other, Phasor estimate) const {
        const Phasor step = phase_difference(other, reference);
        const bool is_tissue = power_of(reference) >= min_power;
        const bool is_first = estimate.re == 0 && estimate.im == 0;
        const bool goes_along = phase_difference(step, estimate).re >= cosine_of_max * std::sqrt(power_of(step));
        const bool counts = is_tissue & (is_first | goes_along);
        return {counts ? step.re : 0.0f, counts ? step.im : 0.0f};
    }
};

// Over which the bulk phase is smoothed along a B-scan.
struct PhaseSmoothing {
    static constexpr std::int64_t reach = 6;  // A-scans on either side

    ECHOLUX_HD static float weight(std::int64_t apart) {
        constexpr double sigma = 2;
        const double deviations = static_cast<double>(apart) / sigma;
        return static_cast<float>(std::exp(-0.5 * deviations * deviations));
    }
};

// How a coarse search sees a B-scan: in half the samples along both axes, powers smoothed twice, then logarithms over a
// floor, less their mean over the neighbourhood.
struct RepeatFeatures {
    static constexpr std::int64_t of_speckle = 1, of_background = 6;  // samples on either side of the means

    // From the mean power of the first repeat.
    ECHOLUX_HD static float floor(float min_power_shown, double mean) {
        constexpr double share = 0.02;
        const auto part = static_cast<float>(share * mean);
        const float least = part > min_power ? part : min_power;
        return min_power_shown > least ? min_power_shown : least;
    }
};

// Bins with signal that an alignment needs.
inline constexpr std::int64_t min_repeat_tissue = 8;

}  // namespace echolux
