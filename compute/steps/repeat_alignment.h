// Alignment of repeated B-scans before comparison (docs/angiography.md): sub-sample shifts by interpolation around a
// carrier, coherence that is insensitive to bulk motion, and the phase of that motion.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "compute/host_device.h"
#include "compute/reason.h"
#include "compute/repeat_report.h"
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
        constexpr double sigma = 2;  // A-scans: `reach` is three of them
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

// ---- Decisions of the alignment.

// Min number of bins with signal for an alignment.
inline constexpr std::int64_t min_repeat_tissue = 8;

// Returns a correlation relative to the powers of both sides, 0 without power.
ECHOLUX_HD inline float normalised(double product, double of_reference, double of_repeat) {
    const double power = std::sqrt(of_reference * of_repeat);
    return power > 0 ? static_cast<float>(product / power) : 0.0f;
}

// Lags on and around the coarse one that the fine search tries, from first to last, of `count` samples.
template <class Int>
struct FineLags {
    static constexpr Int reach = 2, width = 2 * reach + 1;
    Int first, last;

    ECHOLUX_HD FineLags(Int place, Int range, Int count)
        : first(limited(place - reach, range, count)), last(limited(place + reach, range, count)) {}

    ECHOLUX_HD Int size() const { return last - first + 1; }

  private:
    ECHOLUX_HD static Int limited(Int lag, Int range, Int count) {
        const Int most = range < count / 2 ? range : count / 2;
        return lag < -most ? -most : lag > most ? most : lag;
    }
};

// Shift of a repeat: sample (z, x) of the reference corresponds to (z + this.z, x + this.x) of the repeat.
struct RepeatShift {
    double z = 0, x = 0;
    float match = 0;
    int whole_z = 0, whole_x = 0;  // nearest sample and A-scan, whose phase is compared
    Reason reason = Reason::ok;

    // Rejects weak matches and shifts at the end of the range.
    ECHOLUX_HD void judge(float min_match, std::int64_t align_depth, std::int64_t align_lines) {
        if (!(match >= min_match))
            reason = Reason::weak_match;
        else if (is_at_end(z, align_depth) || is_at_end(x, align_lines))
            reason = Reason::out_of_range;
    }

    ECHOLUX_HD RepeatReport report(bool depth_flip) const {
        RepeatReport report;
        report.depth_rows = static_cast<float>(depth_flip ? z : 0 - z);  // rows are reversed
        report.a_scans = static_cast<float>(0 - x);
        report.match = match;
        report.reason = reason;
        return report;
    }

  private:
    ECHOLUX_HD static bool is_at_end(double found, std::int64_t range) {
        return range > 0 && std::abs(found) >= static_cast<double>(range);
    }
};

// State of the search for a reference: the first repeat that matches half of the others, otherwise the one with the
// most matches.
struct RepeatState {
    int reference = 0;   // current best
    int used = -1;       // repeats that match it
    int last_tried = 0;  // reference whose results are in the buffers
    int is_decided = 0;

    // Ends the try of a reference that `matching` of `count` repeats match, including itself. Returns whether more
    // match it than the ones before.
    ECHOLUX_HD bool end_try(int tried, int matching, int count) {
        const bool is_better = matching > used;
        last_tried = tried;
        reference = is_better ? tried : reference;
        used = is_better ? matching : used;
        is_decided = 2 * (used - 1) >= count - 1 || tried == count - 1 ? 1 : 0;
        return is_better;
    }

    // Rejects the reference if no other repeat matches it.
    ECHOLUX_HD void judge(RepeatShift& own) const {
        if (is_decided != 0 && used < 2 && own.reason == Reason::ok) own.reason = Reason::too_few;
    }
};

// Valid range common to all kept repeats of a slow-axis position.
struct KnownPart {
    std::int64_t first_x, last_x, first_z, last_z;

    ECHOLUX_HD void keep(const RepeatShift& shift, std::int64_t positions, std::int64_t depth) {
        const KnownSamples along(shift.x, positions), deep(shift.z, depth);
        first_x = along.begin > first_x ? along.begin : first_x;
        last_x = along.end < last_x ? along.end : last_x;
        first_z = deep.begin > first_z ? deep.begin : first_z;
        last_z = deep.end < last_z ? deep.end : last_z;
    }
};

}  // namespace echolux
