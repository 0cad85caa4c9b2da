// MovedSamples at work on the CPU: the samples of one line, spread over the finer grid from where they lie. Scattered
// in the order of the samples by the one thread that has the line: the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "compute/methods/moved_samples.h"

namespace echolux::cpu {

// `distance` in points of the finer grid, at most half the width.
inline float kernel_at(const MovedSamples& moved, double distance) {
    const double x = 2 * distance / static_cast<double>(moved.width);
    return moved.kernel(std::sqrt(std::max(0.0, 1 - x * x)));
}

// A Value is float where all weights are real, else complex.
template <class Value>
Value weight_at(const MovedSamples& moved, double point) {
    const std::complex<float> weight = moved.weights(point);
    if constexpr (std::is_same_v<Value, float>)
        return weight.real();
    else
        return weight;
}

template <class Value>
void spread_sample(const MovedSamples& moved, double place, Value value, Value* grid) {
    const auto first = static_cast<std::int64_t>(std::ceil(place - static_cast<double>(moved.width) / 2));
    for (std::int64_t g = first; g < first + moved.width; ++g) {
        const std::int64_t around = g < 0 ? g + moved.grid : g < moved.grid ? g : g - moved.grid;
        grid[around] += kernel_at(moved, place - static_cast<double>(g)) * value;
    }
}

template <class Value>
void to_grid(const MovedSamples& moved, const LineMap& map, const float* samples, Value* grid) {
    std::fill_n(grid, moved.grid, Value{});
    const double end = static_cast<double>(moved.points.size()) - 0.5;
    const auto stretch = static_cast<float>(map.stretch);
    for (std::size_t p = 0; p < moved.points.size(); ++p) {
        const double point = map.offset + map.stretch * moved.points[p];
        if (point < -0.5 || point > end) continue;
        const Value weight = weight_at<Value>(moved, point) * (moved.shares[p] * stretch);
        spread_sample(moved, point * moved.ratio, weight * samples[p], grid);
    }
}

}  // namespace echolux::cpu
