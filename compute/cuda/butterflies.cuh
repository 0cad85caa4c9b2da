// Discrete Fourier transforms of 2 to 20 points in registers, forward e^(-i), natural order in and out. They are the
// stages of longer transforms (line_transform.cuh, mixed_radix.cuh), for one line or two lines side by side. They also
// run on the host, where tests compare them with the definition. Products of coprime lengths use the Good-Thomas
// algorithm, without twiddle factors (I. J. Good, J. R. Stat. Soc. B 20, 361, 1958). Odd primes use sums and
// differences of mirrored points.
#pragma once

#include <vector_types.h>

#include <numbers>

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

}  // namespace echolux::cuda
