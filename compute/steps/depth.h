// After the transform (docs/algorithms.md 2.3, 3.13): power, noise floor, quantity, codes.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "compute/steps/host_device.h"

namespace echolux {

// Least power that is told apart from nothing: -200 dB. Zero and NaN become this.
inline constexpr float least_power = 1e-20f;

struct Power {
    ECHOLUX_HD float operator()(float re, float im) const { return re * re + im * im; }
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

// log2 of a positive normal number, absolute error below 1e-7 on [0.7, 1.4], one ulp of the exponent elsewhere. Our own
// polynomial, because a vectorised loop needs one and both backends must share it.
struct Log2 {
    ECHOLUX_HD float operator()(float x) const {
        constexpr std::int32_t sqrt_half = 0x3f3504f3;
        const auto bits = std::bit_cast<std::int32_t>(x);
        const std::int32_t exponent = (bits - sqrt_half) >> 23;
        const float f = std::bit_cast<float>(bits - exponent * (1 << 23)) - 1.0f;
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
    }
};

// 10 log10(power) - reference_db.
struct Decibel {
    float reference_db = 0;

    ECHOLUX_HD float operator()(float power) const {
        constexpr float db_per_octave = 3.0102999566f;
        return Log2{}(power > least_power ? power : least_power) * db_per_octave - reference_db;
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
    float low = 0;
    float codes_per_unit = 1;
    float max_code = 255;

    ECHOLUX_HD Code operator()(float value) const {
        const float code = (value - low) * codes_per_unit + 0.5f;
        const float not_negative = code > 0 ? code : 0.0f;
        return static_cast<Code>(static_cast<std::int32_t>(not_negative < max_code ? not_negative : max_code));
    }
};

}  // namespace echolux
