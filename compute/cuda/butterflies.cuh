// Discrete Fourier transforms of 2, 4, 8 and 16 points in registers, forward e^(-i), natural order in and out: what the
// stages of longer ones are made of (line_transform.cuh), of one line or of two side by side. They also run on the
// host, where tests hold them against the definition.
#pragma once

#include <vector_types.h>

#include "compute/host_device.h"

namespace echolux::cuda {

ECHOLUX_HD inline float2 operator+(float2 a, float2 b) {
    return {a.x + b.x, a.y + b.y};
}

ECHOLUX_HD inline float2 operator-(float2 a, float2 b) {
    return {a.x - b.x, a.y - b.y};
}

ECHOLUX_HD inline float2 operator*(float2 a, float2 b) {
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

ECHOLUX_HD inline float2 times_minus_i(float2 a) {
    return {a.y, -a.x};
}

// exp(-2 pi i n / 16) * a for the n that butterflies need, n known at compile time.
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
    // Bin k1 + 4 k2 stands at 4 k1 + k2.
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

}  // namespace echolux::cuda
