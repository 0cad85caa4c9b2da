// Median as defined by NumPy: the mean of the middle two for an even count.
#pragma once

#include <algorithm>
#include <cstdint>

namespace echolux::cpu {

// Returns the median. Reorders `values`.
inline double median_of(float* values, std::int64_t count) {
    float* middle = values + count / 2;
    std::nth_element(values, middle, values + count);
    if (count % 2 == 1) return static_cast<double>(*middle);
    return (static_cast<double>(*middle) + static_cast<double>(*std::max_element(values, middle))) / 2;
}

}  // namespace echolux::cpu
