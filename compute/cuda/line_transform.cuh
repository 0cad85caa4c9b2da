// Discrete Fourier transform of a line, or of two side by side, by a group of threads. Each thread holds sixteen points
// in registers: thread t of T has points t, t + T, t + 2 T ... before and after. The stages have radix 16, then the
// remaining radix, in Stockham order, so bins are in natural order. Between stages, points are exchanged through shared
// memory, padded to avoid bank conflicts.
#pragma once

#include "compute/cuda/butterflies.cuh"
#include "compute/cuda/transform_size.h"

namespace echolux::cuda {

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

// v[i] *= w^i. `rows` holds powers of this butterfly's w, `stride` apart (twiddles.h).
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

}  // namespace echolux::cuda
