// Applies SpreadSamples on the CPU to float or complex float values.
#pragma once

#include <cstdint>

#include "compute/indexing.h"
#include "compute/methods/nonuniform.h"

namespace echolux::cpu {

template <class Value>
void to_grid(const SpreadSamples& spread, const Value* samples, Value* grid) {
    const std::int32_t* begin = spread.begin.data();
    for (std::size_t g = 0; g + 1 < spread.begin.size(); ++g) {
        Value sum{};
        for (auto i = index(begin[g]); i < index(begin[g + 1]); ++i) {
            sum += spread.weights[i] * samples[spread.samples[i]];
        }
        grid[g] = sum;
    }
}

template <class Value>
void from_grid(const SpreadSamples& spread, const Value* grid, Value* samples) {
    const auto points = static_cast<std::int32_t>(spread.begin.size() - 1);
    const auto width = static_cast<std::int32_t>(spread.width);
    const float* weight = spread.from_weights.data();
    for (std::size_t p = 0; p < spread.first.size(); ++p) {
        Value sum{};
        std::int32_t point = spread.first[p];
        for (std::int32_t l = 0; l < width; ++l) {
            sum += *weight++ * grid[point];
            if (++point == points) point = 0;
        }
        samples[p] = sum;
    }
}

}  // namespace echolux::cpu
