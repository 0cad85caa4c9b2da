// The forms in which a pair of neighbouring lines goes through the transform of line_transform.cuh: each as one of its
// own, side by side, in floats or in halves, or, where the weights of the k grid are real, both as one, the first line
// its real and the second its imaginary part. Every table entry that is fetched serves both lines.
#pragma once

#include <cstdint>

#include "compute/cuda/half_pairs.cuh"
#include "compute/cuda/line_transform.cuh"
#include "compute/cuda/spectrum_pair.cuh"

namespace echolux::cuda {

// Of transforms side by side. use(bin, a, b) for the bins on one side of zero delay.
template <class Size, class Point, class Factor, class Use>
__device__ inline void last_stage_side_by_side(const Point* exchange, const Factor* twiddles, int t, const Use& use) {
    constexpr int radix = Size::last_radix;
#pragma unroll
    for (int i = 0; i < 16 / radix; ++i) {
        const int k = t + i * Size::threads;
        Point v[radix];
        last_butterfly<Size>(exchange, v, twiddles, k);
#pragma unroll
        for (int m = 0; m < radix / 2; ++m) use(k + m * (Size::n / radix), line_a(v[m]), line_b(v[m]));
    }
}

// Both lines at a point, from the four samples at `x` on, less their background.
__device__ inline float2 interpolated(const float2* x, const float (&w)[4], float minus_background) {
    const float2 x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    return {fmaf(w[3], x3.x, fmaf(w[2], x2.x, fmaf(w[1], x1.x, fmaf(w[0], x0.x, minus_background)))),
            fmaf(w[3], x3.y, fmaf(w[2], x2.y, fmaf(w[1], x1.y, fmaf(w[0], x0.y, minus_background))))};
}

struct SideBySide {
    using Sample = float2;  // of both lines
    using Point = ComplexPair;
    using Factor = float2;
    template <class Word>
    using Words = AsRecorded<Word>;

    template <class Size>
    static constexpr int min_blocks(int block) {  // of a multiprocessor

        return block > 128 ? 512 / block : 5;
    }

    // Point j of the k grid, resampled and weighed; `base` is its own.
    template <class Taps>
    __device__ static Point resampled(float4 point, const std::uint16_t* base, const Taps& taps, int j,
                                      const Sample* spectra) {
        const Sample* x = spectra + __ldg(base);
        float w[4];
        taps(j, point.x, w);
        const float2 value = interpolated(x, w, point.y);
        return {{value.x * point.z, value.x * point.w}, {value.y * point.z, value.y * point.w}};
    }

    // The last stage: use(bin, a, b) for the bins on one side of zero delay.
    template <class Size, class Use>
    __device__ static void last_stage(const Point* exchange, const Factor* twiddles, int t, const Use& use) {
        last_stage_side_by_side<Size>(exchange, twiddles, t, use);
    }
};

struct Halves {
    using Sample = __half2;
    using Point = HalfPair;
    using Factor = HalfFactor;
    template <class Word>
    using Words = HalvesLessWhole<Word>;

    template <class Size>
    static constexpr int min_blocks(int block) {
        return block > 128 ? 896 / block : 7;
    }

    // The entry of the table is a HalfPoint, taps and base among it.
    template <class Taps>
    __device__ static Point resampled(float4 entry, const std::uint16_t*, const Taps&, int, const Sample* spectra) {
        const auto& point = reinterpret_cast<const HalfPoint&>(entry);
        const Sample* x = spectra + point.base;
        __half2 value = __hfma2(__low2half2(point.taps[0]), x[0], __half2half2(point.minus_rest));
        value = __hfma2(__high2half2(point.taps[0]), x[1], value);
        value = __hfma2(__low2half2(point.taps[1]), x[2], value);
        value = __hfma2(__high2half2(point.taps[1]), x[3], value);
        return {__hmul2(value, __low2half2(point.weight)), __hmul2(value, __high2half2(point.weight))};
    }

    template <class Size, class Use>
    __device__ static void last_stage(const Point* exchange, const Factor* twiddles, int t, const Use& use) {
        last_stage_side_by_side<Size>(exchange, twiddles, t, use);
    }
};

struct TwoInOne {
    using Sample = float2;
    using Point = float2;
    using Factor = float2;
    template <class Word>
    using Words = AsRecorded<Word>;

    template <class Size>
    static constexpr int min_blocks(int block) {
        return Size::last_radix == 16 ? 3 : block > 128 ? 1024 / block : 8;
    }

    template <class Taps>
    __device__ static Point resampled(float4 point, const std::uint16_t*, const Taps& taps, int j,
                                      const Sample* spectra) {
        const Sample* x = spectra + __float_as_int(point.w);
        float w[4];
        taps(j, point.x, w);
        return interpolated(x, w, point.y) * point.z;
    }

    // A bin of either line needs this transform's bins k and n - k: a thread has the butterflies of both.
    template <class Size, class Use>
    __device__ static void last_stage(const Point* exchange, const float2* twiddles, int t, const Use& use) {
        constexpr int radix = Size::last_radix, step = Size::n / radix;
        const auto both = [&](int bin, float2 z, float2 mirror) {
            use(bin, float2{z.x + mirror.x, z.y - mirror.y}, float2{z.y + mirror.y, mirror.x - z.x});
        };
#pragma unroll
        for (int i = 0; i < (radix == 16 ? 1 : 8 / radix); ++i) {
            const int k = t + i * Size::threads, other = k == 0 ? step / 2 : step - k;
            if (k >= step / 2) return;
            Point u[radix], v[radix];
            last_butterfly<Size>(exchange, u, twiddles, k);
            last_butterfly<Size>(exchange, v, twiddles, other);
#pragma unroll
            for (int m = 0; m < radix / 2; ++m) {
                both(k + m * step, u[m], k == 0 ? u[(radix - m) % radix] : v[radix - 1 - m]);
                both(other + m * step, v[m], k == 0 ? v[radix - 1 - m] : u[radix - 1 - m]);
            }
        }
    }
};

}  // namespace echolux::cuda
