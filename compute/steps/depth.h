// Steps after the transform, on powers and on complex bins.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "compute/host_device.h"

namespace echolux {

// ---- Power, noise floor, quantity and codes (docs/algorithms.md 2.3, 3.13). Fused multiply-adds for power, dB and
// codes are explicit so that all kernels return the same bits for a bin.

// Smallest power distinguished from zero: -200 dB. Zero and NaN map to it.
inline constexpr float min_power = 1e-20f;

// Returns a b + c. On a GPU the result is rounded once.
ECHOLUX_HD inline float multiply_add(float a, float b, float c) {
#ifdef __CUDA_ARCH__
    return __fmaf_rn(a, b, c);
#else
    return a * b + c;
#endif
}

// Power of a complex bin.
struct Power {
    ECHOLUX_HD float operator()(float re, float im) const { return multiply_add(re, re, im * im); }
};

// Subtracts the noise floor from the amplitude and returns the power. `floor` is an amplitude.
struct MinusNoiseAmplitude {
    ECHOLUX_HD float operator()(float power, float floor) const {
        const float rest = std::sqrt(power) - floor;
        return rest > 0 ? rest * rest : 0.0f;
    }
};

// Subtracts the power of the noise floor. `floor` is an amplitude.
struct MinusNoisePower {
    ECHOLUX_HD float operator()(float power, float floor) const {
        const float rest = power - floor * floor;
        return rest > 0 ? rest : 0.0f;
    }
};

// log2 of a positive normal number. The absolute error is below 1e-7 (2.4e-7 on a GPU) on [0.7, 1.4] and one ulp of the
// exponent elsewhere. The CPU uses a polynomial because vectorized loops cannot call a library function. The GPU uses
// its special function unit for the fraction, which saves 1/40 of the time of the whole chain and changes dB values by
// less than 1e-6.
struct Log2 {
    ECHOLUX_HD float operator()(float x) const {
        constexpr std::int32_t sqrt_half = 0x3f3504f3;
        const auto bits = std::bit_cast<std::int32_t>(x);
        const std::int32_t exponent = (bits - sqrt_half) >> 23;
        const float fraction = std::bit_cast<float>(bits - exponent * (1 << 23));
#ifdef __CUDA_ARCH__
        float of_fraction;
        asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(of_fraction) : "f"(fraction));
        return of_fraction + static_cast<float>(exponent);
#else
        const float f = fraction - 1.0f;
        float p = 0.12541176f;
        p = p * f - 0.21030312f;
        p = p * f + 0.21737954f;
        p = p * f - 0.23851948f;
        p = p * f + 0.28765666f;
        p = p * f - 0.36072119f;
        p = p * f + 0.48092253f;
        p = p * f - 0.72134713f;
        p = p * f + 1.44269487f;
        return p * f + static_cast<float>(exponent);
#endif
    }
};

// 10 log10(power) - reference_db, with power clamped to min_power.
struct Decibel {
    float reference_db = 0;

    ECHOLUX_HD float operator()(float power) const {
        constexpr float db_per_octave = 3.0102999566f;
        return multiply_add(Log2{}(power > min_power ? power : min_power), db_per_octave, -reference_db);
    }
};

// Power on a linear scale. NaN and negative values become 0.
struct Intensity {
    ECHOLUX_HD float operator()(float power) const { return power > 0 ? power : 0.0f; }
};

// Square root of the power. NaN and negative values become 0.
struct Amplitude {
    ECHOLUX_HD float operator()(float power) const { return power > 0 ? std::sqrt(power) : 0.0f; }
};

// Quantizes low..high to codes 0..max_code: rounded to nearest, clamped. NaN becomes 0.
template <class Code>
struct Quantised {
    static constexpr float max_code = sizeof(Code) == 1 ? 255.0f : 65535.0f;
    float low = 0;
    float codes_per_unit = 1;

    ECHOLUX_HD Code operator()(float value) const {
        const float code = multiply_add(value - low, codes_per_unit, 0.5f);
        const float not_negative = code > 0 ? code : 0.0f;
        return static_cast<Code>(static_cast<std::int32_t>(not_negative < max_code ? not_negative : max_code));
    }
};

// Returns the quantization that spreads all codes over low..high. If low equals high, every value becomes code 0.
template <class Code>
ECHOLUX_HD inline Quantised<Code> codes_over(float low, float high) {
    const float width = high - low;
    return {low, width > 0 ? Quantised<Code>::max_code / width : 0.0f};
}

// Bits of the nearest half-precision number, ties to even. Values beyond 65504 are clamped, because textures must not
// contain infinities. The input must not be NaN, which all quantities guarantee.
struct Half {
    ECHOLUX_HD std::uint16_t operator()(float value) const {
        constexpr std::uint32_t greatest = 0x477fe000u;  // 65504
        constexpr std::uint32_t min_normal = 0x38800000u;
        const auto bits = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t sign = bits >> 16 & 0x8000u;
        const std::uint32_t magnitude = bits & 0x7fffffffu;
        if (magnitude >= greatest) return static_cast<std::uint16_t>(sign | 0x7bffu);
        if (magnitude >= min_normal) {
            const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
            return static_cast<std::uint16_t>(sign | (rounded - 0x38000000u) >> 13);
        }
        // Near 0.5, the spacing of floats equals that of subnormal halves, so the sum rounds to one of them.
        const float sum = 0.5f + std::bit_cast<float>(magnitude);
        return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(sum) - 0x3f000000u));
    }
};

// ---- A complex number for host and device code, with the few operations that flow needs.

// Complex number with float parts.
struct Phasor {
    float re = 0;
    float im = 0;
};

// Returns |a|^2.
ECHOLUX_HD inline float power_of(Phasor a) {
    return Power{}(a.re, a.im);
}

// Returns a conj(b), whose phase is that of a minus that of b.
ECHOLUX_HD inline Phasor phase_difference(Phasor a, Phasor b) {
    return {multiply_add(a.re, b.re, a.im * b.im), multiply_add(a.im, b.re, -(a.re * b.im))};
}

// Returns 1 / |a|. For zero it returns a finite number, so that the product with zero is zero. The GPU uses its special
// function unit. Both backends are accurate to two units in the last place.
ECHOLUX_HD inline float inverse_length(Phasor a) {
    const float power = power_of(a);
#ifdef __CUDA_ARCH__
    constexpr float min_normal = 1.17549435e-38f;
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(power > min_normal ? power : min_normal));
    return inverse;
#else
    return power > 0 ? 1 / std::sqrt(power) : 0.0f;
#endif
}

// Returns a scaled to length 1. Zero stays zero.
ECHOLUX_HD inline Phasor direction_of(Phasor a) {
    const float share = inverse_length(a);
    return {a.re * share, a.im * share};
}

}  // namespace echolux
