// Host side of the transforms of kernels (transform.cuh): tables of factors in double precision and in halves. Lengths,
// layouts and shapes: compute/on_chip.h.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector_types.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <vector>

#include "compute/on_chip.h"
#include "compute/plan/params.h"

namespace echolux::cuda {

// ---- Twiddle factors of the fused kernels' transforms, computed once in double precision.

// Appends [twiddle_rows][length]: powers of w = exp(-2 pi i k / (length * radix)), k < length.
inline void append_twiddles(std::vector<float2>& table, int radix, int length) {
    constexpr int powers[] = {1, 2, 3, 4, 8, 12, 16};
    for (int row = 0; row < twiddle_rows(radix); ++row) {
        for (int k = 0; k < length; ++k) {
            const double turn = static_cast<double>(k) * powers[row] / (static_cast<double>(length) * radix);
            const double angle = -2 * std::numbers::pi * turn;
            table.push_back({static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))});
        }
    }
}

// Returns the factors of all stages but the first, one stage after another.
inline std::vector<float2> transform_twiddles(std::int64_t n) {
    std::vector<float2> table;
    with_transform_size(n, [&](auto size) {
        using Size = decltype(size);
        append_twiddles(table, 16, 16);
        if (Size::four_stages) append_twiddles(table, 16, 256);
        append_twiddles(table, Size::last_radix, Size::n / Size::last_radix);
    });
    return table;
}

// Returns the factors of all stages but the first, one stage after another.
std::vector<float2> mixed_radix_twiddles(const MixedRadix& length);

// ---- Transforms a real line of 2 n points with a complex transform of n points: even points are the real parts, odd
// points the imaginary parts. With Z the result, anything linear in the line's spectrum is
//     own[k] Z[k] + mirrored[k] conj(Z[(n - k) mod n]).
// The factors are computed in double precision: for bins of the spectrum itself, and for the line shifted by a fraction
// of a sample, which is used for up-sampling.

// Returns (own, mirrored) for bins first, first + 1, ..., each multiplied by its factor in `times`.
std::vector<float4> spectrum_factors(std::int64_t n, std::int64_t first, const std::vector<float>& times);

// Returns [n] factors for each phase 1 ... upsample - 1. An unnormalized inverse transform of n points then yields the
// line shifted by phase / upsample samples, again with even points as real parts. The Nyquist bin is split between both
// halves (docs/algorithms.md 2.5).
std::vector<float4> shift_factors(std::int64_t n, std::int64_t upsample);

// ---- Scales of half-precision transforms, and host tables of complex halves.

// Returns a power of two that scales weights of a grid. Scaled weights are at most 1, and no sum of their products with
// saturated samples, which are at most 1 (of_half_samples), exceeds the largest half.
inline float half_weight_scale(const std::vector<std::complex<float>>& weights) {
    constexpr double largest_half = 65504;
    double largest = 0, sum = 0;
    for (const std::complex<float>& weight : weights) {
        const double x = std::abs(double{weight.real()}), y = std::abs(double{weight.imag()});
        largest = std::max({largest, x, y});
        sum += std::hypot(x, y);
    }
    if (largest == 0) return 1;
    return static_cast<float>(std::exp2(std::floor(std::log2(std::min(1 / largest, largest_half / sum)))));
}

// Returns a power of two that scales spectra after the window. Bins of saturated samples with any background are then
// at most half the largest half, and so are points of a spectrum transformed back from its bins, times their number and
// `of_peaks`. Not for float samples, whose range is unknown.
inline float half_spectrum_scale(const RawFormat& format, const std::vector<double>& window, double of_peaks) {
    constexpr double largest_half = 65504;
    double sum = 0, largest = 0;
    for (const double weight : window) {
        sum += std::abs(weight);
        largest = std::max(largest, std::abs(weight));
    }
    const double bins = std::max(sum, static_cast<double>(window.size()) * largest * of_peaks);
    const double greatest = std::ldexp(bins, significant_bits(format));
    return static_cast<float>(std::exp2(std::floor(std::log2(largest_half / 2 / greatest))));
}

// Returns a power of two that scales a matrix for products of halves. Its elements are then at most 2^14, far below
// overflow, and precise down to 2^-28 of the largest.
inline float half_matrix_scale(double largest) {
    return largest == 0 ? 1 : static_cast<float>(std::ldexp(1.0, 13 - std::ilogb(largest)));
}

// Returns the bits of a pair of halves, real and imaginary part.
inline std::uint32_t half_bits(float re, float im) {
    const __half2 half = __floats2half2_rn(re, im);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &half, sizeof(half));
    return bits;
}

inline std::vector<std::uint32_t> halves_of(const std::vector<float2>& values, float scale = 1) {
    std::vector<std::uint32_t> halves;
    for (const float2 value : values) halves.push_back(half_bits(value.x * scale, value.y * scale));
    return halves;
}

template <class Real>
std::vector<std::uint32_t> halves_of(const std::vector<std::complex<Real>>& values, float scale = 1) {
    std::vector<std::uint32_t> halves;
    for (const std::complex<Real>& value : values) {
        halves.push_back(half_bits(static_cast<float>(value.real()) * scale, static_cast<float>(value.imag()) * scale));
    }
    return halves;
}

}  // namespace echolux::cuda
