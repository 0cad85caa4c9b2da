// Discrete Fourier transforms in kernels: butterflies in registers, and lines whose length is a power of two or any
// product of small numbers, exchanged through shared memory.
#pragma once

#include <vector_types.h>

#include <numbers>
#include <type_traits>
#include <utility>

#include "compute/cuda/transform.h"
#include "compute/host_device.h"

namespace echolux::cuda {

// ---- Discrete Fourier transforms of 2 to 20 points in registers, forward e^(-i), natural order in and out. They are
// the stages of longer transforms, for one line or two lines side by side. They also run on the host, where tests
// compare them with the definition. Products of coprime lengths use the Good-Thomas algorithm, without twiddle factors
// (I. J. Good, J. R. Stat. Soc. B 20, 361, 1958). Odd primes use sums and differences of mirrored points.

ECHOLUX_HD inline float2 operator+(float2 a, float2 b) {
    return {a.x + b.x, a.y + b.y};
}

ECHOLUX_HD inline float2 operator-(float2 a, float2 b) {
    return {a.x - b.x, a.y - b.y};
}

ECHOLUX_HD inline float2 operator*(float2 a, float2 b) {
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

ECHOLUX_HD inline float2 operator*(float2 a, float factor) {
    return {a.x * factor, a.y * factor};
}

ECHOLUX_HD inline float2 times_minus_i(float2 a) {
    return {a.y, -a.x};
}

// Returns exp(-2 pi i n / 16) * a for the compile-time n that butterflies need.
template <int n>
ECHOLUX_HD inline float2 rotated(float2 a) {
    constexpr float c = 0.92387953251128674f, s = 0.38268343236508977f, h = 0.70710678118654752f;
    if constexpr (n == 0) return a;
    if constexpr (n == 1) return a * float2{c, -s};
    if constexpr (n == 2) return {(a.x + a.y) * h, (a.y - a.x) * h};
    if constexpr (n == 3) return a * float2{s, -c};
    if constexpr (n == 4) return times_minus_i(a);
    if constexpr (n == 6) return {(a.y - a.x) * h, -(a.x + a.y) * h};
    if constexpr (n == 9) return a * float2{-c, s};
}

// The same point of two lines.
struct alignas(16) ComplexPair {
    float2 a, b;
};

ECHOLUX_HD inline ComplexPair operator+(ComplexPair p, ComplexPair q) {
    return {p.a + q.a, p.b + q.b};
}

ECHOLUX_HD inline ComplexPair operator-(ComplexPair p, ComplexPair q) {
    return {p.a - q.a, p.b - q.b};
}

ECHOLUX_HD inline ComplexPair operator*(ComplexPair p, float2 factor) {
    return {p.a * factor, p.b * factor};
}

ECHOLUX_HD inline ComplexPair operator*(ComplexPair p, float factor) {
    return {p.a * factor, p.b * factor};
}

ECHOLUX_HD inline ComplexPair times_minus_i(ComplexPair p) {
    return {times_minus_i(p.a), times_minus_i(p.b)};
}

template <int n>
ECHOLUX_HD inline ComplexPair rotated(ComplexPair p) {
    return {rotated<n>(p.a), rotated<n>(p.b)};
}

template <class Point>
ECHOLUX_HD inline void transform(Point (&v)[2]) {
    const Point sum = v[0] + v[1];
    v[1] = v[0] - v[1];
    v[0] = sum;
}

template <class Point>
ECHOLUX_HD inline void transform_four(Point& a, Point& b, Point& c, Point& d) {
    const Point even_sum = a + c, even_difference = a - c, odd_sum = b + d;
    const Point odd_difference = times_minus_i(b - d);
    a = even_sum + odd_sum;
    b = even_difference + odd_difference;
    c = even_sum - odd_sum;
    d = even_difference - odd_difference;
}

template <class Point>
ECHOLUX_HD inline void transform(Point (&v)[4]) {
    transform_four(v[0], v[1], v[2], v[3]);
}

template <class Point>
ECHOLUX_HD inline void transform(Point (&v)[8]) {
    transform_four(v[0], v[2], v[4], v[6]);
    transform_four(v[1], v[3], v[5], v[7]);
    const Point odd[4] = {v[1], rotated<2>(v[3]), rotated<4>(v[5]), rotated<6>(v[7])};
    const Point even[4] = {v[0], v[2], v[4], v[6]};
    ECHOLUX_UNROLL
    for (int k = 0; k < 4; ++k) {
        v[k] = even[k] + odd[k];
        v[k + 4] = even[k] - odd[k];
    }
}

template <class Point>
ECHOLUX_HD inline void transform(Point (&v)[16]) {
    ECHOLUX_UNROLL
    for (int i = 0; i < 4; ++i) transform_four(v[i], v[i + 4], v[i + 8], v[i + 12]);
    v[5] = rotated<1>(v[5]);
    v[9] = rotated<2>(v[9]);
    v[13] = rotated<3>(v[13]);
    v[6] = rotated<2>(v[6]);
    v[10] = rotated<4>(v[10]);
    v[14] = rotated<6>(v[14]);
    v[7] = rotated<3>(v[7]);
    v[11] = rotated<6>(v[11]);
    v[15] = rotated<9>(v[15]);
    ECHOLUX_UNROLL
    for (int k = 0; k < 4; ++k) transform_four(v[4 * k], v[4 * k + 1], v[4 * k + 2], v[4 * k + 3]);
    // Bin k1 + 4 k2 is at 4 k1 + k2: transpose.
    ECHOLUX_UNROLL
    for (int k1 = 0; k1 < 4; ++k1) {
        ECHOLUX_UNROLL
        for (int k2 = k1 + 1; k2 < 4; ++k2) {
            const Point other = v[4 * k1 + k2];
            v[4 * k1 + k2] = v[k1 + 4 * k2];
            v[k1 + 4 * k2] = other;
        }
    }
}

// Returns cos(2 pi n / of) for 0 <= n < of, at compile time.
ECHOLUX_HD constexpr double cosine_of_turn(int n, int of) {
    const double angle = 2 * std::numbers::pi * (2 * n > of ? of - n : n) / of;
    double sum = 0, term = 1;
    for (int i = 1; i < 40; i += 2) {
        sum += term;
        term *= -angle * angle / (i * (i + 1));
    }
    return sum;
}

// exp(2 pi i n / of), n < of.
template <int of>
struct UnitCircle {
    float cosine[of] = {};
    float sine[of] = {};

    ECHOLUX_HD constexpr UnitCircle() {
        for (int n = 0; n < of; ++n) {
            cosine[n] = static_cast<float>(cosine_of_turn(n, of));
            sine[n] = static_cast<float>(cosine_of_turn((4 * n + 3 * of) % (4 * of), 4 * of));
        }
    }
};

// Transform of an odd number of points.
template <int n, class Point>
ECHOLUX_HD inline void transform_odd(Point (&v)[n]) {
    static_assert(n % 2 == 1);
    constexpr int half = n / 2;
    constexpr UnitCircle<n> circle;
    Point sums[half], differences[half];
    Point all = v[0];
    ECHOLUX_UNROLL
    for (int j = 1; j <= half; ++j) {
        sums[j - 1] = v[j] + v[n - j];
        differences[j - 1] = v[j] - v[n - j];
        all = all + sums[j - 1];
    }
    ECHOLUX_UNROLL
    for (int k = 1; k <= half; ++k) {
        Point even = v[0] + sums[0] * circle.cosine[k];
        Point odd = differences[0] * circle.sine[k];
        ECHOLUX_UNROLL
        for (int j = 2; j <= half; ++j) {
            even = even + sums[j - 1] * circle.cosine[j * k % n];
            odd = odd + differences[j - 1] * circle.sine[j * k % n];
        }
        odd = times_minus_i(odd);
        v[k] = even + odd;
        v[n - k] = even - odd;
    }
    v[0] = all;
}

// Transform of a * b points, a and b coprime. Point b i + a j is point i of the transforms of length a and point j of
// those of length b. Bin k is bin k % a of the former and k % b of the latter.
template <int a, int b, class Point>
ECHOLUX_HD inline void transform_coprime(Point (&v)[a * b]);

template <class Point>
ECHOLUX_HD inline void transform(Point (&v)[3]) {
    transform_odd(v);
}

template <class Point>
ECHOLUX_HD inline void transform(Point (&v)[5]) {
    transform_odd(v);
}

template <class Point>
ECHOLUX_HD inline void transform(Point (&v)[6]) {
    transform_coprime<2, 3>(v);
}

template <class Point>
ECHOLUX_HD inline void transform(Point (&v)[7]) {
    transform_odd(v);
}

template <class Point>
ECHOLUX_HD inline void transform(Point (&v)[9]) {
    constexpr UnitCircle<9> circle;
    Point part[3][3];
    ECHOLUX_UNROLL
    for (int i = 0; i < 3; ++i) {
        ECHOLUX_UNROLL
        for (int j = 0; j < 3; ++j) part[i][j] = v[i + 3 * j];
        transform(part[i]);
    }
    ECHOLUX_UNROLL
    for (int k = 0; k < 3; ++k) {
        Point across[3];
        ECHOLUX_UNROLL
        for (int i = 0; i < 3; ++i) {
            across[i] = i * k == 0 ? part[i][k] : part[i][k] * float2{circle.cosine[i * k], -circle.sine[i * k]};
        }
        transform(across);
        ECHOLUX_UNROLL
        for (int j = 0; j < 3; ++j) v[k + 3 * j] = across[j];
    }
}

template <class Point>
ECHOLUX_HD inline void transform(Point (&v)[10]) {
    transform_coprime<2, 5>(v);
}

template <class Point>
ECHOLUX_HD inline void transform(Point (&v)[11]) {
    transform_odd(v);
}

template <class Point>
ECHOLUX_HD inline void transform(Point (&v)[12]) {
    transform_coprime<4, 3>(v);
}

template <class Point>
ECHOLUX_HD inline void transform(Point (&v)[13]) {
    transform_odd(v);
}

template <class Point>
ECHOLUX_HD inline void transform(Point (&v)[15]) {
    transform_coprime<3, 5>(v);
}

template <class Point>
ECHOLUX_HD inline void transform(Point (&v)[20]) {
    transform_coprime<4, 5>(v);
}

template <int a, int b, class Point>
ECHOLUX_HD inline void transform_coprime(Point (&v)[a * b]) {
    constexpr int n = a * b;
    constexpr auto one_of = [](int own, int other) {  // 1 modulo `own` and 0 modulo the other
        int k = other;
        while (k % own != 1) k += other;
        return k;
    };
    constexpr int one_of_a = one_of(a, b), one_of_b = one_of(b, a);
    Point part[b][a];
    ECHOLUX_UNROLL
    for (int j = 0; j < b; ++j) {
        ECHOLUX_UNROLL
        for (int i = 0; i < a; ++i) part[j][i] = v[(b * i + a * j) % n];
        transform(part[j]);
    }
    ECHOLUX_UNROLL
    for (int k = 0; k < a; ++k) {
        Point across[b];
        ECHOLUX_UNROLL
        for (int j = 0; j < b; ++j) across[j] = part[j][k];
        transform(across);
        ECHOLUX_UNROLL
        for (int j = 0; j < b; ++j) v[(k * one_of_a + j * one_of_b) % n] = across[j];
    }
}

#ifdef __CUDACC__  // the rest exchanges points between threads, on the device only

// ---- Discrete Fourier transform of a line, or of two side by side, by a group of threads. Each thread holds sixteen
// points in registers: thread t of T has points t, t + T, t + 2 T ... before and after. The stages have radix 16, then
// the remaining radix, in Stockham order, so bins are in natural order. Between stages, points are exchanged through
// shared memory, padded to avoid bank conflicts.

__device__ inline int padded(int i) {
    return i + (i >> 4);
}

// Writes the results of butterfly t, before whose stage sub-transforms had `length` bins, to the position expected by
// the next stage: (t / length) * length * radix + t % length + i * length.
template <int length, int radix, class Point>
__device__ inline void put(Point* exchange, const Point (&v)[radix], int t) {
    Point* first = exchange + padded(t / length * (length * radix) + t % length);
    constexpr int step = length == 1 ? 1 : length / 16 * 17;
#pragma unroll
    for (int i = 0; i < radix; ++i) first[i * step] = v[i];
}

// Reads operands t + i * n / radix of butterfly t. `exchange` holds points, or one component of each.
template <int n, int radix, class Points, class Point>
__device__ inline void get(Points exchange, Point (&v)[radix], int t) {
    const auto first = exchange + padded(t);
    constexpr int step = n / radix / 16 * 17;
#pragma unroll
    for (int i = 0; i < radix; ++i) v[i] = first[i * step];
}

__device__ inline float2 loaded(const float2* factor) {
    return __ldg(factor);
}

// v[i] *= w^i. `rows` holds powers of this butterfly's w, `stride` apart (transform.h).
template <int radix, class Point, class Factor>
__device__ inline void twiddle(Point (&v)[radix], const Factor* rows, int stride) {
    Factor first[4];
#pragma unroll
    for (int i = 1; i < 4 && i < radix; ++i) {
        first[i] = loaded(rows + (i - 1) * stride);
        v[i] = v[i] * first[i];
    }
#pragma unroll
    for (int q = 1; 4 * q < radix; ++q) {
        const Factor fourth = loaded(rows + (2 + q) * stride);
        v[4 * q] = v[4 * q] * fourth;
#pragma unroll
        for (int i = 1; i < 4 && 4 * q + i < radix; ++i) v[4 * q + i] = v[4 * q + i] * (fourth * first[i]);
    }
}

// A stage of radix 16 after one with `length` bins.
template <int n, int length, class Point, class Factor>
__device__ inline void middle_stage(Point* exchange, Point (&v)[16], const Factor* twiddles, int t) {
    get<n>(exchange, v, t);
    twiddle<16>(v, twiddles + t % length, length);
    transform(v);
    __syncthreads();
    put<length>(exchange, v, t);
    __syncthreads();
}

// `exchange`: [Size::exchange_points], may be in use until all threads of the block enter.
template <class Size, class Point, class Factor>
__device__ inline void stages_before_last(Point* exchange, Point (&v)[16], const Factor* twiddles, int t) {
    transform(v);
    __syncthreads();
    put<1>(exchange, v, t);
    __syncthreads();
    middle_stage<Size::n, 16>(exchange, v, twiddles, t);
    if constexpr (Size::four_stages) middle_stage<Size::n, 256>(exchange, v, twiddles + twiddle_rows(16) * 16, t);
}

// Computes bins k + m * n / radix of the last stage.
template <class Size, class Points, class Point, class Factor>
__device__ inline void last_butterfly(Points exchange, Point (&v)[Size::last_radix], const Factor* twiddles, int k) {
    get<Size::n>(exchange, v, k);
    twiddle<Size::last_radix>(v, twiddles + Size::last_twiddles + k, Size::n / Size::last_radix);
    transform(v);
}

// The complete forward transform, unnormalized. All threads of the block must call it. `exchange` is free after the
// next barrier.
template <class Size, class Point, class Factor>
__device__ inline void transform_line(Point* exchange, Point (&v)[16], const Factor* twiddles, int t) {
    constexpr int radix = Size::last_radix, butterflies = 16 / radix;
    stages_before_last<Size>(exchange, v, twiddles, t);
#pragma unroll
    for (int i = 0; i < butterflies; ++i) {
        Point part[radix];
        last_butterfly<Size>(exchange, part, twiddles, t + i * Size::threads);
#pragma unroll
        for (int m = 0; m < radix; ++m) v[i + m * butterflies] = part[m];
    }
}

// Exchanges real and imaginary parts. Applied before and after a forward transform, this yields the inverse one,
// e^(+i).
__device__ inline float2 exchanged(float2 a) {
    return {a.y, a.x};
}

__device__ inline ComplexPair exchanged(ComplexPair p) {
    return {exchanged(p.a), exchanged(p.b)};
}

// The inverse transform, also unnormalized.
template <class Size, class Point>
__device__ inline void transform_line_back(Point* exchange, Point (&v)[16], const float2* twiddles, int t) {
#pragma unroll
    for (Point& point : v) point = exchanged(point);
    transform_line<Size>(exchange, v, twiddles, t);
#pragma unroll
    for (Point& point : v) point = exchanged(point);
}

// ---- Discrete Fourier transform of a line, or of two side by side, whose length is a product of small radices. Each
// butterfly reads its operands from shared memory and writes the results back in place, so threads may process any
// number of butterflies in any order. The final position of a bin follows from the reversed digits of its index, and
// the last stage returns bins in natural order. Lengths are run-time values or, a fifth faster, compile-time constants.

// A radix as a type.
template <int value>
struct Radix {
    static constexpr int radix = value;
};

// A stage of a run-time length.
struct RuntimeStage {
    const MixedStage& stage;
    int stages_before;

    __device__ int butterflies() const { return stage.butterflies; }
    __device__ int stride() const { return stage.stride; }
    __device__ int length() const { return stage.length; }
    __device__ int twiddles() const { return stage.twiddles; }
    __device__ int place(int u) const { return place_of(stage, stages_before, u); }
    __device__ int bin(int u) const { return quotient(u, stage.turns[0].reciprocal); }

    template <class Use>
    __device__ void with_radix(const Use& use) const {
        switch (stage.radix) {
            case 2: return use(Radix<2>{});
            case 3: return use(Radix<3>{});
            case 4: return use(Radix<4>{});
            case 5: return use(Radix<5>{});
            case 6: return use(Radix<6>{});
            case 7: return use(Radix<7>{});
            case 8: return use(Radix<8>{});
            case 9: return use(Radix<9>{});
            case 10: return use(Radix<10>{});
            case 11: return use(Radix<11>{});
            case 12: return use(Radix<12>{});
            case 13: return use(Radix<13>{});
            case 16: return use(Radix<16>{});
            default: return;
        }
    }
};

// Access to the stages of a run-time length.
struct AnyLength {
    static constexpr int max_block = MixedShape::max_block, min_blocks = 1;

    template <class Use>
    __device__ static void middle_stages(const MixedRadix& length, const Use& use) {
#pragma unroll 1
        for (int s = 1; s < length.stages - 1; ++s) use(RuntimeStage{length.stage[s], s});
    }
    __device__ static RuntimeStage first_stage(const MixedRadix& length) {
        return {length.stage[0], 0};
    }
    __device__ static RuntimeStage last_stage(const MixedRadix& length) {
        return {length.stage[length.stages - 1], length.stages - 1};
    }
    __device__ static int n(const MixedRadix& length) {
        return length.n;
    }
    __device__ static int threads(const MixedShape& shape) {
        return shape.threads;
    }
};

// A stage of a compile-time length.
template <int s, int padding, int... radices>
struct StaticStage {
    static constexpr MixedStage stage() {
        constexpr int all[] = {radices...};
        return mixed_radix(all, padding).stage[s];
    }

    __device__ static constexpr int butterflies() { return std::integral_constant<int, stage().butterflies>::value; }
    __device__ static constexpr int stride() { return std::integral_constant<int, stage().stride>::value; }
    __device__ static constexpr int length() { return std::integral_constant<int, stage().length>::value; }
    __device__ static constexpr int twiddles() { return std::integral_constant<int, stage().twiddles>::value; }
    __device__ static int place(int u) {
        constexpr MixedStage known = stage();
        return place_of(known, s, u);
    }
    __device__ static int bin(int u) {
        constexpr std::uint32_t reciprocal = stage().turns[0].reciprocal;
        return quotient(u, reciprocal);
    }
    template <class Use>
    __device__ static void with_radix(const Use& use) {
        use(Radix<stage().radix>{});
    }
};

// Includes the shape: threads per group, groups per block.
template <int group_threads, int groups, int padding, int... radices>
struct KnownLength {
    template <int s>
    using RadixStep = StaticStage<s, padding, radices...>;
    static constexpr int count = sizeof...(radices);
    static constexpr int max_block = group_threads * groups, min_blocks = MixedShape::max_block / max_block;

    static constexpr MixedRadix length() {
        constexpr int all[] = {radices...};
        return mixed_radix(all, padding);
    }
    static MixedShape shape(std::int64_t samples) {
        return {length(), groups, group_threads, MixedShape::row_bytes_for(samples, length().n / 2)};
    }

    template <class Use>
    __device__ static void middle_stages(const MixedRadix&, const Use& use) {
        if constexpr (count > 2) use(RadixStep<1>{});
        if constexpr (count > 3) use(RadixStep<2>{});
        static_assert(count <= 4);
    }
    __device__ static RadixStep<0> first_stage(const MixedRadix&) { return {}; }
    __device__ static RadixStep<count - 1> last_stage(const MixedRadix&) { return {}; }
    __device__ static constexpr int n(const MixedRadix&) { return (radices * ...); }
    __device__ static constexpr int threads(const MixedShape&) { return group_threads; }
};

// The points of one line are adjacent in shared memory, or those of several lines are interleaved (two_passes.cuh).
template <class Exchange>
using PointOf = std::remove_cvref_t<decltype(std::declval<const Exchange&>()[0])>;

// first(v, u, butterflies) loads operands u, u + butterflies, ... of the first stage. Call between two barriers.
template <class Exchange, class RadixStep, class First>
__device__ inline void first_stage(const RadixStep& stage, Exchange exchange, int t, int threads, const First& first) {
    using Point = PointOf<Exchange>;
    stage.with_radix([&](auto size) {
        constexpr int radix = size.radix;
#pragma unroll 1
        for (int u = t; u < stage.butterflies(); u += threads) {
            Point v[radix];
            first(v, u, stage.butterflies());
            transform(v);
#pragma unroll
            for (int i = 0; i < radix; ++i) exchange[u + i * stage.stride()] = v[i];
        }
    });
}

template <class Exchange, class RadixStep>
__device__ inline void middle_stage(const RadixStep& stage, Exchange exchange, const float2* twiddles, int t,
                                    int threads) {
    using Point = PointOf<Exchange>;
    stage.with_radix([&](auto size) {
        constexpr int radix = size.radix;
#pragma unroll 1
        for (int u = t; u < stage.butterflies(); u += threads) {
            const Exchange at = exchange + stage.place(u);
            Point v[radix];
#pragma unroll
            for (int i = 0; i < radix; ++i) v[i] = at[i * stage.stride()];
            twiddle<radix>(v, twiddles + stage.twiddles() + stage.bin(u), stage.length());
            transform(v);
#pragma unroll
            for (int i = 0; i < radix; ++i) at[i * stage.stride()] = v[i];
        }
    });
}

// Calls use(bin, value) for all bins, or for those of the first half of n.
enum class Bins { all, first_half };

template <Bins bins = Bins::first_half, class Exchange, class RadixStep, class Use>
__device__ inline void last_stage(const RadixStep& stage, int n, Exchange exchange, const float2* twiddles, int t,
                                  int threads, const Use& use) {
    using Point = PointOf<Exchange>;
    stage.with_radix([&](auto size) {
        constexpr int radix = size.radix, used = bins == Bins::all ? radix : (radix + 1) / 2;
#pragma unroll 1
        for (int k = t; k < stage.butterflies(); k += threads) {
            const Exchange at = exchange + stage.place(k);
            Point v[radix];
#pragma unroll
            for (int i = 0; i < radix; ++i) v[i] = at[i];
            twiddle<radix>(v, twiddles + stage.twiddles() + k, stage.length());
            transform(v);
#pragma unroll
            for (int m = 0; m < used; ++m) {
                const int bin = k + m * stage.butterflies();
                if (bins == Bins::all || radix % 2 == 0 || m < radix / 2 || bin < n / 2) use(bin, v[m]);
            }
        }
    });
}

// ---- Mirrored bins of half-length transforms (transform.h): transfers bin n - k to the thread that holds bin k.

__device__ inline ComplexPair conjugate(ComplexPair p) {
    return {{p.a.x, -p.a.y}, {p.b.x, -p.b.y}};
}

// Returns own z + mirrored conj(mirror), with both factors in one float4.
__device__ inline ComplexPair combined(float4 factors, ComplexPair z, ComplexPair mirror) {
    return z * float2{factors.x, factors.y} + conjugate(mirror) * float2{factors.z, factors.w};
}

// Calls use(i, k, mirror) for v[i], bin k of transform_line(), and bin (n - k) mod n, if first <= k < end. All threads
// of the block must call it. `exchange` is free after the next barrier.
template <class Size, class Point, class Use>
__device__ inline void with_mirrored_bins(Point* exchange, const Point (&v)[16], int t, int first, int end,
                                          const Use& use) {
    const auto mirrored = [](int k) { return (Size::n - k) & (Size::n - 1); };
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const int k = t + i * Size::threads, wanted_by = mirrored(k);
        if (wanted_by >= first && wanted_by < end) exchange[padded(k)] = v[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const int k = t + i * Size::threads;
        if (k >= first && k < end) use(i, k, exchange[padded(mirrored(k))]);
    }
}

#endif  // __CUDACC__

}  // namespace echolux::cuda
