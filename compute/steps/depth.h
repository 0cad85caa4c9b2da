// After the transform (docs/algorithms.md 2.3, 3.13): power, noise floor, quantity, codes. Which product of power, dB
// and code is fused with a sum is spelled out, so that all kernels make the same bits of a bin.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "compute/host_device.h"

namespace echolux {

// Least power that is told apart from nothing: -200 dB. Zero and NaN become this.
inline constexpr float min_power = 1e-20f;

// a b + c, on a GPU rounded once.
ECHOLUX_HD inline float multiply_add(float a, float b, float c) {
#ifdef __CUDA_ARCH__
    return __fmaf_rn(a, b, c);
#else
    return a * b + c;
#endif
}

struct Power {
    ECHOLUX_HD float operator()(float re, float im) const { return multiply_add(re, re, im * im); }
};

struct LessNoiseAmplitude {
    ECHOLUX_HD float operator()(float power, float floor) const {
        const float rest = std::sqrt(power) - floor;
        return rest > 0 ? rest * rest : 0.0f;
    }
};

struct LessNoisePower {
    ECHOLUX_HD float operator()(float power, float floor) const {
        const float rest = power - floor * floor;
        return rest > 0 ? rest : 0.0f;
    }
};

// log2 of a positive normal number, absolute error below 1e-7 (2.4e-7 on a GPU) on [0.7, 1.4], one ulp of the exponent
// elsewhere. Our own polynomial, because a vectorised loop needs one. A GPU has a unit for numbers near 1, which saves
// a fortieth of the whole chain's time and moves dB by less than 1e-6.
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

// 10 log10(power) - reference_db.
struct Decibel {
    float reference_db = 0;

    ECHOLUX_HD float operator()(float power) const {
        constexpr float db_per_octave = 3.0102999566f;
        return multiply_add(Log2{}(power > min_power ? power : min_power), db_per_octave, -reference_db);
    }
};

struct Intensity {
    ECHOLUX_HD float operator()(float power) const { return power > 0 ? power : 0.0f; }
};

struct Amplitude {
    ECHOLUX_HD float operator()(float power) const { return power > 0 ? std::sqrt(power) : 0.0f; }
};

// Codes 0..max_code for low..high, nearest code, clamped.
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

// All codes from low to high; where these are one value, code 0.
template <class Code>
ECHOLUX_HD inline Quantised<Code> codes_over(float low, float high) {
    const float width = high - low;
    return {low, width > 0 ? Quantised<Code>::max_code / width : 0.0f};
}

// Bits of the nearest half-precision number, ties to even; beyond 65504 it stays there, as textures had better hold no
// infinity. Values are numbers: every quantity before it sees to that.
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
        // Next to 0.5 the floats lie as far apart as the smallest halves, so the sum rounds to one of those.
        const float sum = 0.5f + std::bit_cast<float>(magnitude);
        return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(sum) - 0x3f000000u));
    }
};

}  // namespace echolux
