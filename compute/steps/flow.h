// Phase steps between repeats at the same position (docs/algorithms.md, Flow) and the quantities derived from them.
// Averages are sums of complex products, never of angles (C. Kasai et al., IEEE Trans. Sonics Ultrason. 32, 458
// (1985)). Power and bins are unscaled transform output.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "compute/steps/depth.h"

namespace echolux {

// Range [begin, end) of a window of `width` bins or lines around i, clipped to the existing ones. An even width reaches
// one further back: a phase step is located half a line after the line it is indexed by, so an even window is centred
// on the line.
struct WindowSpan {
    std::int64_t begin;
    std::int64_t end;

    ECHOLUX_HD WindowSpan(std::int64_t i, std::int64_t width, std::int64_t count)
        : begin(i - width / 2 > 0 ? i - width / 2 : 0),
          end(i - width / 2 + width < count ? i - width / 2 + width : count) {}

    ECHOLUX_HD std::int64_t size() const { return end - begin; }
};

// Sums or means over pairs of repeats.
struct PhaseStep {
    Phasor product;   // later repeat times the conjugate of the earlier
    float power = 0;  // mean of the two repeats' powers

    ECHOLUX_HD void add(const PhaseStep& other) {
        product.re += other.product.re;
        product.im += other.product.im;
        power += other.power;
    }
    ECHOLUX_HD PhaseStep times(float factor) const {
        return {{product.re * factor, product.im * factor}, power * factor};
    }
};

// Returns the phase step of one pair.
ECHOLUX_HD inline PhaseStep phase_step(Phasor earlier, Phasor later) {
    return {phase_difference(later, earlier), 0.5f * (power_of(earlier) + power_of(later))};
}

// Returns the phase step of one pair after removal of the bulk motion. `bulk` is the direction of the whole line's
// step, or {1, 0} for none.
ECHOLUX_HD inline PhaseStep phase_step(Phasor earlier, Phasor later, Phasor bulk) {
    const PhaseStep step = phase_step(earlier, later);
    return {phase_difference(step.product, bulk), step.power};
}

// ---- bulk motion ----------------------------------------------------------------------------------------------------

// Sums over the depth bins of one pair of lines.
struct BulkSum {
    Phasor product;
    float tissue = 0;  // bins above the noise
    float still = 0;   // tissue bins that move with the current estimate

    ECHOLUX_HD void add(const BulkSum& other) {
        product.re += other.product.re;
        product.im += other.product.im;
        tissue += other.tissue;
        still += other.still;
    }
};

// Contribution of one bin to a bulk motion pass. The first pass has the estimate {0, 0} and includes all tissue. Each
// of the `trimmings` later passes excludes bins that deviate from the previous estimate. Contributions are weighted by
// amplitude squared because they are complex products.
struct BulkShare {
    static constexpr int trimmings = 3;
    static constexpr float cosine_of_most = 0.92106099f;  // cosine of the max deviation, 0.4 rad
    float min_power = 0;

    ECHOLUX_HD BulkSum operator()(Phasor earlier, Phasor later, Phasor estimate) const {
        const PhaseStep step = phase_step(earlier, later, {1, 0});
        if (!(step.power >= min_power)) return {};
        const float along = phase_difference(step.product, estimate).re;
        const bool first = estimate.re == 0 && estimate.im == 0;
        const bool still = first || along >= cosine_of_most * std::sqrt(power_of(step.product));
        if (!still) return {{}, 1, 0};
        return {step.product, 1, 1};
    }
};

// Returns the next estimate of the bulk direction.
ECHOLUX_HD inline Phasor bulk_estimate(const BulkSum& sum) {
    return direction_of(sum.product);
}
// Returns the step to remove after the last pass, or {1, 0} if less than half of the tissue is still.
ECHOLUX_HD inline Phasor bulk_step(const BulkSum& last) {
    const Phasor step = bulk_estimate(last);
    const bool known = 2 * last.still >= last.tissue && (step.re != 0 || step.im != 0);
    return known ? step : Phasor{1, 0};
}

// ---- voxels ---------------------------------------------------------------------------------------------------------

// Encodes the mean over a window as two signed bytes, real part in the low byte, 127 = 1. 0 if the power is too low.
struct PhasorCode {
    float min_power = 0;
    bool negative = false;  // inverts the sign of velocities

    ECHOLUX_HD std::uint16_t operator()(const PhaseStep& mean) const {
        const float length = mean.power >= min_power ? 127 * inverse_length(mean.product) : 0.0f;
        return bytes(mean.product, length, negative ? -length : length);
    }

  private:
    // Multiplies each part by its factor and rounds to the nearest integer.
    ECHOLUX_HD static std::uint16_t bytes(Phasor a, float of_re, float of_im) {
#ifdef __CUDA_ARCH__
        constexpr float whole = 12582912.0f;  // 1.5 x 2^23: adding it moves the integer into the lowest byte
        return static_cast<std::uint16_t>(__byte_perm(__float_as_uint(__fmaf_rn(a.re, of_re, whole)),
                                                      __float_as_uint(__fmaf_rn(a.im, of_im, whole)), 0x0040));
#else
        const auto byte = [](float part) { return static_cast<std::int32_t>(std::rint(part)) & 0xff; };
        return static_cast<std::uint16_t>(byte(a.re * of_re) | byte(a.im * of_im) << 8);
#endif
    }
};

// Power of the change between repeats (two-pulse canceller), in dB above the noise. 0 below the noise or if masked.
struct PowerDoppler {
    float min_power = 0;
    float noise_power = 1;

    ECHOLUX_HD float operator()(const PhaseStep& mean) const {
        if (!(mean.power >= min_power)) return 0;
        const float changed = (mean.power - mean.product.re) / noise_power;
        return changed > 1 ? Decibel{}(changed) : 0.0f;
    }
};

// ---- unwrapping -----------------------------------------------------------------------------------------------------

// Returns the phase of the mean over a window, in rad.
ECHOLUX_HD inline float phase_of(const PhaseStep& mean, bool negative) {
    return std::atan2(negative ? -mean.product.im : mean.product.im, mean.product.re);
}

// Returns the number of whole turns to add to `phase` so that it is within half a turn of `reference` (K. Itoh, Appl.
// Opt. 21, 2470 (1982)). Along depth, the reference is the previous wrapped phase and turns accumulate. A run of
// unmasked bins starts from the unwrapped phase of the previous line if known, otherwise with zero turns.
ECHOLUX_HD inline std::int32_t turns_towards(float reference, float phase) {
    constexpr float turn = 2 * std::numbers::pi_v<float>;
    return static_cast<std::int32_t>(std::rint((reference - phase) / turn));
}

// Encodes a phase and its turns as a velocity in mm/s, as a half.
struct VelocityCode {
    float mm_s_per_rad = 1;

    ECHOLUX_HD std::uint16_t operator()(float phase, std::int32_t turns) const {
        constexpr float turn = 2 * std::numbers::pi_v<float>;
        return Half{}(multiply_add(static_cast<float>(turns), turn, phase) * mm_s_per_rad);
    }
};

}  // namespace echolux
