// Index helpers for tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace echolux {

// Converts a 64-bit count to a container index.
constexpr std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

// Returns 0, 1, ... n - 1.
inline std::vector<double> counted(std::int64_t n) {
    std::vector<double> values(index(n));
    std::iota(values.begin(), values.end(), 0.0);
    return values;
}

}  // namespace echolux
