// Sums over centred windows along one axis of a B-scan or volume, for kernels of contrasts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compute/indexing.h"

namespace echolux {

// Replaces each value by the sum over the window around it, along the axis of `count` values at distance `stride`.
// Windows end at the edges. Summed directly, so that no rounding is carried from one window to the next.
template <class T>
std::vector<T> window_sum(const std::vector<T>& in, std::int64_t count, std::int64_t stride, std::int64_t window) {
    if (window <= 1) return in;
    std::vector<T> out(in.size());
    const std::int64_t block = count * stride;
    for (std::int64_t first = 0; first < static_cast<std::int64_t>(in.size()); first += block) {
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t begin = std::max<std::int64_t>(0, i - window / 2);
            const std::int64_t end = std::min(count, i + window / 2 + 1);
            for (std::int64_t lane = first; lane < first + stride; ++lane) {
                T sum{};
                for (std::int64_t k = begin; k < end; ++k) sum += in[index(lane + k * stride)];
                out[index(lane + i * stride)] = sum;
            }
        }
    }
    return out;
}

}  // namespace echolux
