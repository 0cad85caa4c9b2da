// The two forms in which a pair of neighbouring lines goes through the transform of line_transform.cuh: each as one of
// its own, side by side, or, where the weights of the k grid are real, both as one, the first line its real and the
// second its imaginary part. Every table entry that is fetched serves both lines.
#pragma once

#include <cstdint>

#include "compute/cuda/line_transform.cuh"

namespace echolux::cuda {

struct SideBySide {
    using Point = ComplexPair;

    template <class Size>
    static constexpr int min_blocks(int block) {  // of a multiprocessor

        return block > 128 ? 512 / block : 5;
    }

    // First of the samples that the point lies between.
    __device__ static int base(const std::uint16_t* base, float4) { return __ldg(base); }

    __device__ static Point weighted(float4 point, float a, float b) {
        return {{a * point.z, a * point.w}, {b * point.z, b * point.w}};
    }

    // The last stage: use(bin, a, b) for the bins on one side of zero delay.
    template <class Size, class Use>
    __device__ static void last_stage(const Point* exchange, const float2* twiddles, int t, const Use& use) {
        constexpr int radix = Size::last_radix;
#pragma unroll
        for (int i = 0; i < 16 / radix; ++i) {
            const int k = t + i * Size::threads;
            Point v[radix];
            last_butterfly<Size>(exchange, v, twiddles, k);
#pragma unroll
            for (int m = 0; m < radix / 2; ++m) use(k + m * (Size::n / radix), v[m].a, v[m].b);
        }
    }
};

struct TwoInOne {
    using Point = float2;

    template <class Size>
    static constexpr int min_blocks(int block) {
        return Size::last_radix == 16 ? 3 : block > 128 ? 1024 / block : 8;
    }

    __device__ static int base(const std::uint16_t*, float4 point) { return __float_as_int(point.w); }

    __device__ static Point weighted(float4 point, float a, float b) { return {a * point.z, b * point.z}; }

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
