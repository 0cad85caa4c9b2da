// How neighbouring lines pass through the transform of line_transform.cuh: two side by side in floats; four in halves;
// or, for real weights of the k grid, four as two complex lines side by side, each with one line as real and another as
// imaginary part. Every table access serves all of them.
#pragma once

#include <cstdint>

#include "compute/cuda/half_pairs.cuh"
#include "compute/cuda/line_transform.cuh"
#include "compute/cuda/spectrum_pair.cuh"

namespace echolux::cuda {

// For transforms side by side. Calls use(bin, point) for the bins on one side of zero delay.
template <class Size, class Point, class Factor, class Use>
__device__ inline void last_stage_side_by_side(const Point* exchange, const Factor* twiddles, int t, const Use& use) {
    constexpr int radix = Size::last_radix;
#pragma unroll
    for (int i = 0; i < 16 / radix; ++i) {
        const int k = t + i * Size::threads;
        Point v[radix];
        last_butterfly<Size>(exchange, v, twiddles, k);
#pragma unroll
        for (int m = 0; m < radix / 2; ++m) use(k + m * (Size::n / radix), v[m]);
    }
}

// Interpolates both lines from four of their samples and subtracts their background.
__device__ inline float2 interpolated(const float2 (&x)[4], const float (&w)[4], float minus_background) {
    return {fmaf(w[3], x[3].x, fmaf(w[2], x[2].x, fmaf(w[1], x[1].x, fmaf(w[0], x[0].x, minus_background)))),
            fmaf(w[3], x[3].y, fmaf(w[2], x[2].y, fmaf(w[1], x[1].y, fmaf(w[0], x[0].y, minus_background))))};
}

// Two lines in floats, each with its own complex transform.
struct SideBySide {
    static constexpr int lines = 2;
    using Point = ComplexPair;
    using Factor = float2;
    template <class Word>
    using Words = AsRecorded<Word>;

    template <class Size>
    static constexpr int min_blocks(int block) {  // per multiprocessor
        return block > 128 ? 512 / block : 5;
    }

    // Returns point j of the k grid, resampled and weighted. `base` belongs to the point.
    template <class Taps>
    __device__ static Point resampled(float4 point, const std::uint16_t* base, const Taps& taps, int j,
                                      const float2* spectra) {
        const float2* first = spectra + __ldg(base);
        const float2 x[] = {first[0], first[1], first[2], first[3]};
        float w[4];
        taps(j, point.x, w);
        const float2 value = interpolated(x, w, point.y);
        return {{value.x * point.z, value.x * point.w}, {value.y * point.z, value.y * point.w}};
    }

    // Runs the last stage and calls use(line, bin, value) for the bins on one side of zero delay.
    template <class Size, class Use>
    __device__ static void last_stage(const Point* exchange, const Factor* twiddles, int t, const Use& use) {
        last_stage_side_by_side<Size>(exchange, twiddles, t, [&](int bin, const Point& point) {
            use(0, bin, point.a);
            use(1, bin, point.b);
        });
    }
};

// Four lines in half precision.
struct Halves {
    static constexpr int lines = 4;
    using Point = HalfPairs;
    using Factor = HalfFactor;
    template <class Word>
    using Words = HalvesLessWhole<Word>;

    template <class Size>
    static constexpr int min_blocks(int block) {
        return block > 128 ? 640 / block : 5;
    }

    // The table entry is a HalfPoint, which includes taps and base.
    template <class Taps>
    __device__ static Point resampled(float4 entry, const std::uint16_t*, const Taps&, int, const HalfQuad* spectra) {
        const auto& point = reinterpret_cast<const HalfPoint&>(entry);
        const HalfQuad* x = spectra + point.base;
        const HalfQuad x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
        const auto weighed = [&](__half2 s0, __half2 s1, __half2 s2, __half2 s3) -> HalfPair {
            __half2 value = __hfma2(__low2half2(point.taps[0]), s0, __half2half2(point.minus_rest));
            value = __hfma2(__high2half2(point.taps[0]), s1, value);
            value = __hfma2(__low2half2(point.taps[1]), s2, value);
            value = __hfma2(__high2half2(point.taps[1]), s3, value);
            return {__hmul2(value, __low2half2(point.weight)), __hmul2(value, __high2half2(point.weight))};
        };
        return {weighed(x0.ab, x1.ab, x2.ab, x3.ab), weighed(x0.cd, x1.cd, x2.cd, x3.cd)};
    }

    template <class Size, class Use>
    __device__ static void last_stage(const Point* exchange, const Factor* twiddles, int t, const Use& use) {
        last_stage_side_by_side<Size>(exchange, twiddles, t, [&](int bin, const Point& point) {
            use(0, bin, first_of(point.ab));
            use(1, bin, second_of(point.ab));
            use(2, bin, first_of(point.cd));
            use(3, bin, second_of(point.cd));
        });
    }

  private:
    __device__ static float2 first_of(HalfPair pair) { return {__low2float(pair.re), __low2float(pair.im)}; }
    __device__ static float2 second_of(HalfPair pair) { return {__high2float(pair.re), __high2float(pair.im)}; }
};

// Four lines as two complex transforms, for real weights. Separating the lines uses the symmetry of real spectra.
struct TwoInOne {
    static constexpr int lines = 4;
    using Point = ComplexPair;  // a + i b and c + i d
    using Factor = float2;
    template <class Word>
    using Words = PackedAsRecorded<Word>;

    template <class Size>
    static constexpr int min_blocks(int block) {
        return block > 128 ? 640 / block : 5;
    }

    template <class Taps>
    __device__ static Point resampled(float4 point, const std::uint16_t*, const Taps& taps, int j,
                                      const PackedQuad* spectra) {
        const PackedQuad* x = spectra + __float_as_int(point.w);
        const PackedQuad x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
        const float2 ab[] = {numbers(x0.ab), numbers(x1.ab), numbers(x2.ab), numbers(x3.ab)};
        const float2 cd[] = {numbers(x0.cd), numbers(x1.cd), numbers(x2.cd), numbers(x3.cd)};
        float w[4];
        taps(j, point.x, w);
        return {interpolated(ab, w, point.y) * point.z, interpolated(cd, w, point.y) * point.z};
    }

    // Butterflies of sixteen points leave too few registers for both transforms at once.
    template <class Size, class Use>
    __device__ static void last_stage(const Point* exchange, const float2* twiddles, int t, const Use& use) {
        if constexpr (Size::last_radix == 16) {
            const auto* parts = reinterpret_cast<const float2*>(exchange);
            last_stage_of<Size, float2>(SecondPoints{parts}, twiddles, t,
                                        [&](int bin, float2 z, float2 mirror) { both(use, 0, bin, z, mirror); });
            last_stage_of<Size, float2>(SecondPoints{parts + 1}, twiddles, t,
                                        [&](int bin, float2 z, float2 mirror) { both(use, 2, bin, z, mirror); });
        } else {
            last_stage_of<Size, Point>(exchange, twiddles, t, [&](int bin, Point z, Point mirror) {
                both(use, 0, bin, z.a, mirror.a);
                both(use, 2, bin, z.b, mirror.b);
            });
        }
    }

  private:
    // Every second point.
    struct SecondPoints {
        const float2* first;

        __device__ SecondPoints operator+(int i) const { return {first + 2 * i}; }
        __device__ float2 operator[](int i) const { return first[2 * i]; }
    };

    // A bin of either line needs the transform's bins k and n - k, so each thread processes both butterflies.
    template <class Size, class Value, class Points, class Use>
    __device__ static void last_stage_of(Points exchange, const float2* twiddles, int t, const Use& use) {
        constexpr int radix = Size::last_radix, step = Size::n / radix;
#pragma unroll
        for (int i = 0; i < (radix == 16 ? 1 : 8 / radix); ++i) {
            const int k = t + i * Size::threads, other = k == 0 ? step / 2 : step - k;
            if (k >= step / 2) return;
            Value u[radix], v[radix];
            last_butterfly<Size>(exchange, u, twiddles, k);
            last_butterfly<Size>(exchange, v, twiddles, other);
#pragma unroll
            for (int m = 0; m < radix / 2; ++m) {
                use(k + m * step, u[m], k == 0 ? u[(radix - m) % radix] : v[radix - 1 - m]);
                use(other + m * step, v[m], k == 0 ? v[radix - 1 - m] : u[radix - 1 - m]);
            }
        }
    }

    // Separates the real-part line and the imaginary-part line.
    template <class Use>
    __device__ static void both(const Use& use, int line, int bin, float2 z, float2 mirror) {
        use(line, bin, float2{z.x + mirror.x, z.y - mirror.y});
        use(line + 1, bin, float2{z.y + mirror.y, mirror.x - z.x});
    }
};

}  // namespace echolux::cuda
