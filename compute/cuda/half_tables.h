// Decides what is transformed in half precision, and builds host tables of complex halves.
#pragma once

#include <cuda_fp16.h>
#include <vector_types.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <vector>

#include "compute/plan/params.h"

namespace echolux::cuda {

// Complex voxels and flow never use half precision.
inline bool wants_halves(const ReconstructionSpec& spec) {
    return spec.recipe.precision == Precision::fast && spec.recipe.quantity != Quantity::complex &&
           spec.flow.method == FlowMethod::none;
}

// Returns a power of two that scales weights of a grid. Scaled weights are at most 1, and no sum of their products with
// saturated samples, which are at most 1 (of_half_samples), exceeds the largest half.
inline float half_weight_scale(const std::vector<float2>& weights) {
    constexpr double largest_half = 65504;
    double largest = 0, sum = 0;
    for (const float2 weight : weights) {
        const double x = std::abs(double{weight.x}), y = std::abs(double{weight.y});
        largest = std::max({largest, x, y});
        sum += std::hypot(x, y);
    }
    if (largest == 0) return 1;
    return static_cast<float>(std::exp2(std::floor(std::log2(std::min(1 / largest, largest_half / sum)))));
}

// Returns the significant bits of a sample after shift and mask.
inline int significant_bits(const RawFormat& format) {
    const std::int64_t left = sample_bits(format.sample_format) - format.shift;
    return static_cast<int>(format.bits == 0 ? left : std::min(left, format.bits));
}

// Returns whether the sample format fits into halves without losing precision.
inline bool fits_halves(const RawFormat& format) {
    return format.sample_format != SampleFormat::f32 && significant_bits(format) <= 16;
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

inline std::vector<std::uint32_t> halves_of(const std::vector<std::complex<double>>& values) {
    std::vector<std::uint32_t> halves;
    for (const std::complex<double>& value : values) {
        halves.push_back(half_bits(static_cast<float>(value.real()), static_cast<float>(value.imag())));
    }
    return halves;
}

}  // namespace echolux::cuda
