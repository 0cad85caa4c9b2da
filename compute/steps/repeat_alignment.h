// Alignment of repeated B-scans before comparison (docs/angiography.md): sub-sample shifts by interpolation around a
// carrier, coherence that is insensitive to bulk motion, and the phase of that motion.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "compute/host_device.h"
#include "compute/steps/depth.h"
#include "compute/steps/flow.h"
#include "compute/steps/registration.h"

namespace echolux {

// Rounds a shift that is within 1e-3 samples of an integer.
ECHOLUX_HD inline double settled(double shift) {
    constexpr double min_fraction = 1e-3;
    const double whole = std::round(shift);
    return std::abs(shift - whole) < min_fraction ? whole : shift;
}

// Samples [begin, end) of `count` that remain valid after a repeat is shifted by `shift`.
struct KnownSamples {
    std::int64_t begin = 0, end = 0;

    ECHOLUX_HD KnownSamples(double shift, std::int64_t count) {
        constexpr std::int64_t lost_at_edges = 2;  // samples lost to interpolation
        const double by = settled(shift);
        const std::int64_t edge = by == std::round(by) ? 0 : lost_at_edges;
        const std::int64_t first = static_cast<std::int64_t>(std::ceil(-by)) + edge;
        const std::int64_t last = count - static_cast<std::int64_t>(std::ceil(by)) - edge;
        begin = first > 0 ? first : 0;
        end = last < count ? last : count;
    }
};

// Interpolation weights for the sample `by` samples ahead: a sinc under a Hann window, accurate to 1 % up to a third of
// a cycle per sample around the carrier. The phase of the carrier decreases by `turns` per sample (half a turn for the
// depth bins of a spectrum).
struct ShiftTaps {
    static constexpr int count = 12;
    std::int64_t first = 0;  // index of the first tap, relative to the output sample
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

// Adds tap * value.
ECHOLUX_HD inline void add_product(Phasor& sum, Phasor tap, Phasor value) {
    sum.re += tap.re * value.re - tap.im * value.im;
    sum.im += tap.re * value.im + tap.im * value.re;
}

// Adds a * conj(b).
ECHOLUX_HD inline void add_difference(Phasor& sum, Phasor a, Phasor b) {
    sum.re = multiply_add(a.re, b.re, multiply_add(a.im, b.im, sum.re));
    sum.im = multiply_add(a.im, b.re, multiply_add(-a.re, b.im, sum.im));
}

// Returns the fraction of a sample, from -1 to 1, with maximal coherence_at(fraction): steps of a quarter, then
// parabolas.
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

// Contribution of one bin to the bulk phase of an A-scan, given the previous estimate ({0, 0} in the first pass).
// Tissue that deviates from the estimate is flowing and is excluded.
struct RepeatPhaseShare {
    static constexpr int passes = 3;
    static constexpr float cosine_of_max = 0.69670671f;  // 0.8 rad
    float min_power = 0;

    // Branch-free so that loops over bins vectorize.
    ECHOLUX_HD Phasor operator()(Phasor reference, Phasor other, Phasor estimate) const {
        const Phasor step = phase_difference(other, reference);
        const bool is_tissue = power_of(reference) >= min_power;
        const bool is_first = estimate.re == 0 && estimate.im == 0;
        const bool goes_along = phase_difference(step, estimate).re >= cosine_of_max * std::sqrt(power_of(step));
        const bool counts = is_tissue & (is_first | goes_along);
        return {counts ? step.re : 0.0f, counts ? step.im : 0.0f};
    }
};

// Gaussian smoothing of the bulk phase along a B-scan.
struct PhaseSmoothing {
    static constexpr std::int64_t reach = 6;  // A-scans on either side

    ECHOLUX_HD static float weight(std::int64_t apart) {
        constexpr double sigma = 2;
        const double deviations = static_cast<double>(apart) / sigma;
        return static_cast<float>(std::exp(-0.5 * deviations * deviations));
    }
};

// Preprocessing of a B-scan for the coarse search: downsampled by two along both axes, power smoothed twice, logarithm
// over a floor, mean of the neighbourhood subtracted.
struct RepeatFeatures {
    static constexpr std::int64_t of_speckle = 1, of_background = 6;  // reach of the means on either side, in samples

    // Returns the floor of the logarithm, from the mean power of the first repeat.
    ECHOLUX_HD static float floor(float min_power_shown, double mean) {
        constexpr double share = 0.02;
        const auto part = static_cast<float>(share * mean);
        const float least = part > min_power ? part : min_power;
        return min_power_shown > least ? min_power_shown : least;
    }
};

// Min number of bins with signal for an alignment.
inline constexpr std::int64_t min_repeat_tissue = 8;

}  // namespace echolux
