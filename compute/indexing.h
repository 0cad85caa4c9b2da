// Small things that the tables share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace echolux {

// Container index of a 64-bit count.
constexpr std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

// 0, 1, ... n - 1.
inline std::vector<double> counted(std::int64_t n) {
    std::vector<double> values(index(n));
    std::iota(values.begin(), values.end(), 0.0);
    return values;
}

}  // namespace echolux
