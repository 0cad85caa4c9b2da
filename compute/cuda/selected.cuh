// Medians on the GPU without moving values: finds the element of a rank bit by bit, by counting smaller ones.
#pragma once

#include <bit>
#include <cstdint>

namespace echolux::cuda {

// Maps floats to unsigned integers with the same order.
__device__ inline std::uint32_t key_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ inline float value_of(std::uint32_t key) {
    return std::bit_cast<float>(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

// Returns the median of value(0) .. value(count - 1) as defined by NumPy: the mean of the middle two for an even count.
template <class Value>
__device__ double median_of(const Value& value, std::int64_t count) {
    const std::int64_t rank = count / 2;
    std::uint32_t middle = 0;
    for (int bit = 31; bit >= 0; --bit) {
        const std::uint32_t candidate = middle | 1u << bit;
        std::int64_t less = 0;
        for (std::int64_t i = 0; i < count; ++i) less += key_of(value(i)) < candidate;
        if (less <= rank) middle = candidate;
    }
    if (count % 2 == 1) return static_cast<double>(value_of(middle));
    // Rank - 1: the largest smaller value, unless there are too few of them.
    std::int64_t less = 0;
    std::uint32_t greatest = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t key = key_of(value(i));
        if (key >= middle) continue;
        ++less;
        greatest = key > greatest ? key : greatest;
    }
    const std::uint32_t lower = less == rank ? greatest : middle;
    return (static_cast<double>(value_of(middle)) + static_cast<double>(value_of(lower))) / 2;
}

}  // namespace echolux::cuda
