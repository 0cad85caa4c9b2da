// Angiography methods (docs/algorithms.md, Flow): how repeated A-scans differ at one voxel. Each method is a functor
// that receives the repeats in temporal order: first() for the first repeat, next() for each pair of consecutive
// repeats, then value(). Bins are unscaled transform output.
#pragma once

#include <cmath>
#include <cstdint>

#include "compute/host_device.h"
#include "compute/steps/depth.h"
#include "compute/steps/flow.h"

namespace echolux {

// ---- Layout of the repeats at one slow-axis position: which lines are compared with each other, in temporal order.
// Lines are counted as recorded, [b_repeats][a_scans][a_repeats], from the first line of the position.

// Counts and strides of repeats.
struct Repeats {
    std::int64_t count = 2;          // per series, at least 2
    std::int64_t step = 1;           // lines between consecutive repeats
    std::int64_t series = 1;         // repeats of different series are not compared
    std::int64_t series_step = 0;    // lines between consecutive series
    std::int64_t position_step = 1;  // lines between consecutive A-scan positions
    std::int64_t positions = 1;      // positions with repeats; later positions use the last one

    ECHOLUX_HD std::int64_t pairs() const { return series * (count - 1); }

    // Returns the line of a repeat, from the first line of the slow position.
    ECHOLUX_HD std::int64_t line(std::int64_t position, std::int64_t in_series, std::int64_t repeat) const {
        const std::int64_t known = position < positions ? position : positions - 1;
        return known * position_step + in_series * series_step + repeat * step;
    }
};

// Variance of the amplitude (Mariampillai et al. 2008), in units of the bins' power. Uses Welford's update so that
// identical repeats give exactly zero.
struct SpeckleVariance {
    float count = 0, mean = 0, sum = 0;

    ECHOLUX_HD void first(Phasor repeat) { add(std::sqrt(power_of(repeat))); }
    ECHOLUX_HD void next(Phasor, Phasor later, Phasor) { add(std::sqrt(power_of(later))); }
    ECHOLUX_HD float value() const { return sum / count; }

  private:
    ECHOLUX_HD void add(float amplitude) {
        count += 1;
        const float apart = amplitude - mean;
        mean += apart / count;
        sum = multiply_add(apart, amplitude - mean, sum);
    }
};

// 1 - mean of a a' / ((a^2 + a'^2) / 2) over pairs of amplitudes (Jia et al. 2012).
struct Decorrelation {
    float sum = 0, pairs = 0;

    ECHOLUX_HD void first(Phasor) {}
    ECHOLUX_HD void next(Phasor earlier, Phasor later, Phasor) {
        add(std::sqrt(power_of(earlier)), std::sqrt(power_of(later)));
    }
    ECHOLUX_HD void add(float a, float b) {
        const float power = 0.5f * multiply_add(a, a, b * b);
        sum += power > 0 ? a * b / power : 1.0f;
        pairs += 1;
    }
    ECHOLUX_HD float value() const {
        const float apart = 1 - sum / pairs;
        return apart > 0 ? apart : 0.0f;
    }
};

// Mean amplitude of the complex difference after removal of bulk motion (Wang et al. 2010), in units of the bins'
// amplitude.
struct Omag {
    float sum = 0, pairs = 0;

    ECHOLUX_HD void first(Phasor) {}
    ECHOLUX_HD void next(Phasor earlier, Phasor later, Phasor bulk) {
        const Phasor turned = phase_difference(later, bulk);
        sum += std::sqrt(power_of(Phasor{turned.re - earlier.re, turned.im - earlier.im}));
        pairs += 1;
    }
    ECHOLUX_HD float value() const { return sum / pairs; }
};

// Variance of the phase steps after removal of bulk motion (Fingler et al. 2009), in rad^2. Computed as -2 ln |mean
// direction|, the variance of a normally distributed phase, which needs no unwrapping.
struct PhaseVariance {
    Phasor sum;
    float pairs = 0;

    ECHOLUX_HD void first(Phasor) {}
    ECHOLUX_HD void next(Phasor earlier, Phasor later, Phasor bulk) {
        const Phasor unit = direction_of(phase_step(earlier, later, bulk).product);
        sum.re += unit.re;
        sum.im += unit.im;
        pairs += 1;
    }
    ECHOLUX_HD float value() const {
        constexpr float ln_2 = 0.69314718f;
        const float squared = power_of(sum) / (pairs * pairs);
        const float variance = -ln_2 * Log2{}(squared > 1e-9f ? squared : 1e-9f);
        return variance > 0 ? variance : 0.0f;
    }
};

// Complex differential variance over a depth window (Nam et al. 2014), insensitive to bulk motion. Call add() with the
// window sum of each pair.
struct ComplexDifferentialVariance {
    float product = 0, power = 0;

    ECHOLUX_HD void add(const PhaseStep& window_sum) {
        product += std::sqrt(power_of(window_sum.product));
        power += window_sum.power;
    }
    ECHOLUX_HD float value() const {
        const float apart = power > 0 ? 1 - product / power : 0.0f;
        return apart > 0 ? std::sqrt(apart) : 0.0f;
    }
};

// Window sums of the amplitudes of two repeats for correlation mapping. value() returns 1 - Pearson's coefficient
// (Jonathan et al. 2011), or 0 if either variance is zero.
struct CorrelationSums {
    float x = 0, y = 0, xx = 0, yy = 0, xy = 0;

    ECHOLUX_HD void add(float a, float b) {
        x += a;
        y += b;
        xx = multiply_add(a, a, xx);
        yy = multiply_add(b, b, yy);
        xy = multiply_add(a, b, xy);
    }
    ECHOLUX_HD void add(const CorrelationSums& other) {
        x += other.x;
        y += other.y;
        xx += other.xx;
        yy += other.yy;
        xy += other.xy;
    }
    ECHOLUX_HD float value(float count) const {
        const float variance_x = xx - x * x / count;
        const float variance_y = yy - y * y / count;
        if (!(variance_x > 0 && variance_y > 0)) return 0;
        const float apart = 1 - (xy - x * y / count) / (std::sqrt(variance_x) * std::sqrt(variance_y));
        return apart > 0 ? apart : 0.0f;
    }
};

// Filters the depth profile as if the spectrum had been multiplied by a narrow band before the transform: a product
// there is a convolution here. Bins outside the kept depth count as zero.
struct BandBin {
    const Phasor* filter;  // [2 reach + 1]
    std::int64_t reach;
    std::int64_t depth;

    ECHOLUX_HD_CALLER
    template <class Bin>
    ECHOLUX_HD Phasor operator()(const Bin& bin, std::int64_t z) const {
        const std::int64_t first = z - reach > 0 ? z - reach : 0;
        const std::int64_t last = z + reach < depth - 1 ? z + reach : depth - 1;
        Phasor sum;
        for (std::int64_t i = first; i <= last; ++i) {
            const Phasor tap = filter[reach + z - i];
            const Phasor value = bin(i);
            sum.re += tap.re * value.re - tap.im * value.im;
            sum.im += tap.re * value.im + tap.im * value.re;
        }
        return sum;
    }
};

// Mean over the series of repeats, and the mean power of all repeats, which decides whether the value is shown.
struct Angiogram {
    float value = 0;
    float power = 0;
};

// Computes the angiogram of one voxel. `repeat(series, i)` returns the bin of a repeat, `bulk(series, pair)` the
// direction of its bulk phase step.
ECHOLUX_HD_CALLER
template <class Method, class Look, class Bulk>
ECHOLUX_HD Angiogram angiogram(const Repeats& repeats, const Look& repeat, const Bulk& bulk) {
    Angiogram sum;
    for (std::int64_t s = 0; s < repeats.series; ++s) {
        Method method;
        Phasor earlier = repeat(s, 0);
        method.first(earlier);
        sum.power += power_of(earlier);
        for (std::int64_t i = 1; i < repeats.count; ++i) {
            const Phasor later = repeat(s, i);
            method.next(earlier, later, bulk(s, i - 1));
            sum.power += power_of(later);
            earlier = later;
        }
        sum.value += method.value();
    }
    const auto series = static_cast<float>(repeats.series);
    return {sum.value / series, sum.power / (series * static_cast<float>(repeats.count))};
}

// Encodes an angiogram as a half: value / `unit`, where the unit is 1 or the power or amplitude of the noise. Voxels
// below the power threshold become 0.
struct AngiogramCode {
    float min_power = 0;
    float unit = 1;

    ECHOLUX_HD std::uint16_t operator()(const Angiogram& one) const {
        return one.power >= min_power ? Half{}(one.value / unit) : std::uint16_t{0};
    }
};

// ---- Decorrelation of complex repeats and its flow component (docs/angiography.md). Noise decorrelates static tissue
// by the inverse of its SNR (ID-OCTA: L. Huang et al., IEEE TMI 39(9), 2020). Motion that alignment cannot undo
// decorrelates all tissue of a B-scan equally (A. Camino et al., Biomed. Opt. Express 8(6), 2017).

// Decorrelation of one voxel.
struct NoisyDecorrelation {
    float value = 1;  // 1 - coherence, 0 to 1
    float noise = 1;  // noise share of the power: decorrelation of static tissue due to noise alone
};

// Computes the decorrelation from the mean over a window and all pairs of repeats.
struct DecorrelationOf {
    float noise_power = 1;

    ECHOLUX_HD NoisyDecorrelation operator()(const PhaseStep& mean) const {
        if (!(mean.power > noise_power)) return {};
        const float apart = 1 - mean.product.re / mean.power;
        return {apart < 0 ? 0.0f : apart > 1 ? 1.0f : apart, noise_power / mean.power};
    }
};

// Decorrelation of a whole B-scan: the median over bright voxels of the decorrelation that noise does not explain. Uses
// a histogram, so the result does not depend on the order in which threads add to it.
struct BulkDecorrelation {
    static constexpr std::int32_t bins = 512;
    static constexpr float max_noise = 0.1f;  // limit of noise.value: 10 dB SNR
    static constexpr float max_shown = 0.5f;  // above this the B-scan carries no flow information

    // Returns the histogram bin of a voxel, or -1 for voxels that are too dark.
    ECHOLUX_HD static std::int32_t bin_of(const NoisyDecorrelation& one) {
        if (!(one.noise < max_noise)) return -1;
        const float moved = 1 - (1 - one.value) / (1 - one.noise);
        const auto bin = static_cast<std::int32_t>(moved * static_cast<float>(bins));
        return moved > 0 ? (bin < bins ? bin : bins - 1) : 0;
    }

    // Returns the median of a histogram `counts` [bins], interpolated linearly within its bin. Returns 0 if no voxel is
    // bright or the median is in the first bin.
    ECHOLUX_HD static float median(const std::uint32_t* counts) {
        std::uint64_t all = 0;
        for (std::int32_t i = 0; i < bins; ++i) all += counts[i];
        std::uint64_t below = 0;
        for (std::int32_t i = 0; i < bins; ++i) {
            if (2 * (below + counts[i]) > all) {
                const float part =
                    (0.5f * static_cast<float>(all) - static_cast<float>(below)) / static_cast<float>(counts[i]);
                return i == 0 ? 0.0f : (static_cast<float>(i) + part) / static_cast<float>(bins);
            }
            below += counts[i];
        }
        return 0;
    }
};

// Code of a voxel, a half: its decorrelation minus that of the whole B-scan. 0 if the power is too low, or if noise and
// bulk motion explain the value: value <= noise + deviations (noise + bulk).
struct DecorrelationCode {
    float max_noise = 0.1f;  // above this, voxels are masked
    float deviations = 0;    // threshold for static tissue in multiples of noise + bulk; 0 disables it
    float bulk = 0;

    ECHOLUX_HD std::uint16_t operator()(const NoisyDecorrelation& one) const {
        if (!(one.noise <= max_noise)) return 0;
        const float apart = 1 - (1 - one.value) / (1 - bulk);
        const float value = apart > 0 ? apart : 0.0f;
        const float of_static = deviations > 0 ? one.noise + deviations * (one.noise + bulk) : -1.0f;
        return value > of_static ? Half{}(value) : std::uint16_t{0};
    }
};

}  // namespace echolux
