// What goes through a transform in half precision, and tables of complex numbers for it, made on the host.
#pragma once

#include <cuda_fp16.h>
#include <vector_types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "compute/plan/params.h"

namespace echolux::cuda {

// Voxels of complex numbers, and flow, are never made of halves.
inline bool wants_halves(const ReconstructionSpec& spec) {
    return spec.recipe.precision == Precision::fast && spec.recipe.quantity != Quantity::complex &&
           spec.flow.method == FlowMethod::none;
}

// What weights of a grid are multiplied by, a power of two: none is then above 1, and no sum of their products with
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

// Pairs of halves, real and imaginary part, as bits.
inline std::vector<std::uint32_t> halves_of(const std::vector<float2>& values, float scale = 1) {
    std::vector<std::uint32_t> halves;
    for (const float2 value : values) {
        const __half2 half = __floats2half2_rn(value.x * scale, value.y * scale);
        std::memcpy(&halves.emplace_back(), &half, sizeof(half));
    }
    return halves;
}

}  // namespace echolux::cuda
