// Index helpers for tables.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace echolux {

// Converts a signed count or index, which must not be negative, to the type of container sizes and indices.
constexpr std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

// Floating-point values need an explicit cast, which shows that their fraction is dropped.
template <std::floating_point T>
std::size_t index(T) = delete;

// Returns 0, 1, ... n - 1.
inline std::vector<double> index_range(std::int64_t n) {
    std::vector<double> values(index(n));
    std::iota(values.begin(), values.end(), 0.0);
    return values;
}

}  // namespace echolux
