// Reads one recorded sample (docs/algorithms.md 2.1): format, byte order, shift, mask, channel stride. A float sample
// that is NaN, or so large that its power would overflow, counts as zero, so that no NaN enters a mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "compute/host_device.h"
#include "compute/plan/params.h"

namespace echolux {

// Integer or float type with the size of a stored sample.
template <SampleFormat format>
struct StoredSample;
template <>
struct StoredSample<SampleFormat::u8> {
    using type = std::uint8_t;
};
template <>
struct StoredSample<SampleFormat::u16> {
    using type = std::uint16_t;
};
template <>
struct StoredSample<SampleFormat::u32> {
    using type = std::uint32_t;
};
template <>
struct StoredSample<SampleFormat::i16> {
    using type = std::int16_t;
};
template <>
struct StoredSample<SampleFormat::f32> {
    using type = float;
};

template <class T>
ECHOLUX_HD inline T swapped_bytes(T value) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (std::size_t i = 0; i < sizeof(T) / 2; ++i) {
        const unsigned char low = bytes[i];
        bytes[i] = bytes[sizeof(T) - 1 - i];
        bytes[sizeof(T) - 1 - i] = low;
    }
    std::memcpy(&value, bytes, sizeof(T));
    return value;
}

// The stride is a type, so that contiguous samples compile to plain vector loads.
struct UnitStride {
    ECHOLUX_HD std::int64_t operator()(std::int64_t p) const { return p; }
};
struct ChannelStride {
    std::int64_t first = 0;
    std::int64_t step = 1;
    ECHOLUX_HD std::int64_t operator()(std::int64_t p) const { return first + p * step; }
};

// Returns sample p of a line as an exact integer (f32 is returned unchanged).
template <SampleFormat format, ByteOrder order, class Stride>
struct ReadSample {
    Stride stride;
    int shift = 0;
    std::uint32_t mask = 0xffffffffu;

    ECHOLUX_HD auto operator()(const std::byte* line, std::int64_t p) const {
        using T = typename StoredSample<format>::type;
        T value;
        std::memcpy(&value, line + stride(p) * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
        if constexpr (order == ByteOrder::big) value = swapped_bytes(value);
        if constexpr (format == SampleFormat::f32) {
            constexpr float largest = 1e12f;
            return value > -largest && value < largest ? value : 0.0f;
        } else if constexpr (format == SampleFormat::i16) {
            return static_cast<std::int32_t>(value) >> shift;
        } else if constexpr (format == SampleFormat::u32) {
            return (value >> shift) & mask;
        } else {
            return static_cast<std::int32_t>((static_cast<std::uint32_t>(value) >> shift) & mask);
        }
    }
};

// 12-bit packing: bytes b0 b1 b2 hold the samples b0 | (b1 & 15) << 8 and b1 >> 4 | b2 << 4 (little-endian), or b0 << 4
// | b1 >> 4 and (b1 & 15) << 8 | b2 as in cameras with big-endian packing.
template <ByteOrder order, class Stride>
struct ReadSample<SampleFormat::packed12, order, Stride> {
    Stride stride;
    int shift = 0;
    std::uint32_t mask = 0xffffffffu;

    ECHOLUX_HD std::int32_t operator()(const std::byte* line, std::int64_t p) const {
        const std::int64_t i = stride(p);
        const std::byte* pair = line + i / 2 * 3 + (i & 1);
        const auto first = static_cast<std::uint32_t>(pair[0]);
        const auto second = static_cast<std::uint32_t>(pair[1]);
        const bool odd = (i & 1) != 0;
        std::uint32_t value = 0;
        if constexpr (order == ByteOrder::little) {
            value = odd ? first >> 4 | second << 4 : first | (second & 15u) << 8;
        } else {
            value = odd ? (first & 15u) << 8 | second : first << 4 | second >> 4;
        }
        return static_cast<std::int32_t>((value >> shift) & mask);
    }
};

// Subtracts a background given as two floats. `whole` is an integer, so the first difference is exact.
struct LessBackground {
    template <class Sample>
    ECHOLUX_HD float operator()(Sample sample, float whole, float rest) const {
        // Represents any sample exactly.
        using Exact = std::conditional_t<std::is_same_v<Sample, std::uint32_t>, double, float>;
        return static_cast<float>(static_cast<Exact>(sample) - static_cast<Exact>(whole)) - rest;
    }
};

}  // namespace echolux
