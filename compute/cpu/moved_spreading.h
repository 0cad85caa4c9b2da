// Spreads the samples of one line from their own positions over the finer grid (MovedSamples). A single thread scatters
// the samples of a line in order, so the bits do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "compute/methods/k_jitter.h"

namespace echolux::cpu {

// Returns the weight of a sample at a point of the k grid. Value is float if all weights are real, otherwise complex.
template <class Value>
Value weight_at(const MovedSamples& moved, double point) {
    const std::complex<float> weight = moved.weights(point);
    if constexpr (std::is_same_v<Value, float>) {
        return weight.real();
    } else {
        const std::complex<float> turn = turn_of(moved.turn, point * moved.cycles_a_point);
        return {weight.real() * turn.real() - weight.imag() * turn.imag(),
                weight.real() * turn.imag() + weight.imag() * turn.real()};
    }
}

template <class Value>
void spread_sample(const MovedSpreading& moved, double place, Value value, Value* grid) {
    const auto first = static_cast<std::int64_t>(std::ceil(place - static_cast<double>(moved.width) / 2));
    for (std::int64_t g = first; g < first + moved.width; ++g) {
        const std::int64_t around = g < 0 ? g + moved.grid : g < moved.grid ? g : g - moved.grid;
        grid[around] += moved.kernel_at(place - static_cast<double>(g)) * value;
    }
}

template <class Value>
void to_grid(const MovedSamples& moved, const LineMap& map, const float* samples, Value* grid) {
    std::fill_n(grid, moved.grid, Value{});
    const MovedSpreading spreading = moved.spreading();
    const auto stretch = static_cast<float>(map.stretch);
    for (std::size_t p = 0; p < moved.points.size(); ++p) {
        const double point = map(moved.points[p]);
        if (!spreading.holds(point)) continue;
        const Value weight = weight_at<Value>(moved, point) * (moved.shares[p] * stretch);
        spread_sample(spreading, point * moved.ratio, weight * samples[p], grid);
    }
}

}  // namespace echolux::cpu
