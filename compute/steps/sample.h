// Steps from a recorded sample to a point of the k grid: read, subtract the background, interpolate.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "compute/host_device.h"
#include "compute/plan/params.h"

namespace echolux {

// ---- Reads one recorded sample (docs/algorithms.md 2.1): format, byte order, shift, mask, channel stride. A float
// sample that is NaN, or so large that its power would overflow, is read as zero. compute/invalid_lines.h finds its
// line.

inline constexpr float largest_f32_sample = 1e12f;  // counts; beyond, power overflows

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
            return value > -largest_f32_sample && value < largest_f32_sample ? value : 0.0f;
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
struct MinusBackground {
    template <class Sample>
    ECHOLUX_HD float operator()(Sample sample, float whole, float rest) const {
        // Represents any sample exactly.
        using Exact = std::conditional_t<std::is_same_v<Sample, std::uint32_t>, double, float>;
        return static_cast<float>(static_cast<Exact>(sample) - static_cast<Exact>(whole)) - rest;
    }
};

// ---- Selects the ReadSample functor that matches a sample format, once per line rather than per sample.

// Layout of the lines of a block and of their samples.
class LineFormat {
  public:
    LineFormat() = default;
    LineFormat(const RawFormat& format, const ScanGeometry& geometry)
        : format_(format), samples_(geometry.samples), line_bytes_(echolux::line_bytes(format, geometry)) {}

    ECHOLUX_HD std::int64_t samples() const { return samples_; }
    ECHOLUX_HD std::int64_t line_bytes() const { return line_bytes_; }

    // Calls use(read), where read(line, sample) returns a sample.
    ECHOLUX_HD_CALLER
    template <class Use>
    ECHOLUX_HD void with_reader(const Use& use) const {
        switch (format_.sample_format) {
            case SampleFormat::u8: return in_order<SampleFormat::u8, ByteOrder::little>(use);
            case SampleFormat::u16: return ordered<SampleFormat::u16>(use);
            case SampleFormat::u32: return ordered<SampleFormat::u32>(use);
            case SampleFormat::i16: return ordered<SampleFormat::i16>(use);
            case SampleFormat::f32: return ordered<SampleFormat::f32>(use);
            case SampleFormat::packed12: return ordered<SampleFormat::packed12>(use);
        }
    }

  private:
    ECHOLUX_HD_CALLER
    template <SampleFormat format, class Use>
    ECHOLUX_HD void ordered(const Use& use) const {
        if (format_.byte_order == ByteOrder::little) return in_order<format, ByteOrder::little>(use);
        return in_order<format, ByteOrder::big>(use);
    }

    ECHOLUX_HD_CALLER
    template <SampleFormat format, ByteOrder order, class Use>
    ECHOLUX_HD void in_order(const Use& use) const {
        if (format_.channels == 1) return use(ReadSample<format, order, UnitStride>{{}, shift(), mask()});
        const ChannelStride stride = format_.channel_layout == ChannelLayout::interleaved
                                         ? ChannelStride{format_.channel, format_.channels}
                                         : ChannelStride{format_.channel * samples_, 1};
        return use(ReadSample<format, order, ChannelStride>{stride, shift(), mask()});
    }

    ECHOLUX_HD int shift() const { return static_cast<int>(format_.shift); }
    ECHOLUX_HD std::uint32_t mask() const {
        return format_.bits == 0 || format_.bits >= 32 ? 0xffffffffu : (1u << format_.bits) - 1u;
    }

    RawFormat format_;
    std::int64_t samples_ = 0;
    std::int64_t line_bytes_ = 0;
};

// ---- Background of a B-scan (docs/algorithms.md 2.2 a-c), computed from exact sums. Both backends return the same
// bits: every operation is rounded once in a fixed order, and the fused multiply-add is explicit.

// Returns whether each acquired B-scan gets its own background, computed from its lines.
inline bool found_for_each_frame(Background mode) {
    return mode == Background::frame_mean || mode == Background::running || mode == Background::median;
}

// Exponential running mean: b <- (1 - alpha) b + alpha mean.
struct RunningMean {
    double alpha = 1;

    ECHOLUX_HD double operator()(double running, double mean) const {
        const double kept = (1 - alpha) * running;
        return std::fma(alpha, mean, kept);
    }
};

// A background split into two floats, so that sample - whole is exact.
struct SplitBackground {
    float whole;
    float rest;

    ECHOLUX_HD explicit SplitBackground(double background)
        : whole(static_cast<float>(std::nearbyint(background))),
          rest(static_cast<float>(background - static_cast<double>(whole))) {}
};

// ---- Table-driven interpolation (docs/algorithms.md 3.1-3.5): a few taps of the spectrum per point of the uniform k
// grid, and the prefilter that converts samples to cubic B-spline coefficients.

// Returns point j of the k grid from `taps` samples of a spectrum.
template <int taps>
struct Resampled {
    // [points], first sample of each point.
    const std::int32_t* base;
    const float* weights;  // [points][taps]

    ECHOLUX_HD float operator()(const float* spectrum, std::int64_t j) const {
        const float* x = spectrum + base[j];
        const float* w = weights + j * taps;
        float value = 0;
        for (int m = 0; m < taps; ++m) value += w[m] * x[m];
        return value;
    }
};

// c_i = sqrt(3) sum over |d| <= reach of z1^|d| x_(i+d), z1 = sqrt(3) - 2: the impulse response of the recursive
// filter, truncated where it falls below 1e-8. Beyond its ends x continues with point symmetry, which yields the
// natural spline.
struct SplinePrefilter {
    static constexpr int reach = 14;

    // Returns coefficient i. `x` must be readable from i - reach to i + reach.
    ECHOLUX_HD float operator()(const float* x, std::int64_t i) const {
        // sqrt(3) * z1^d
        constexpr float taps[reach + 1] = {1.73205081f,    -0.464101615f,    0.124355653f,    -0.0333209968f,
                                           0.00892833418f, -0.00239233993f,  0.000641025553f, -0.000171762279f,
                                           4.6023564e-05f, -1.23319768e-05f, 3.30434323e-06f, -8.853961e-07f,
                                           2.3724117e-07f, -6.35685799e-08f, 1.70331496e-08f};
        float value = taps[0] * x[i];
        for (int d = 1; d <= reach; ++d) value += taps[d] * (x[i - d] + x[i + d]);
        return value;
    }
};

}  // namespace echolux
