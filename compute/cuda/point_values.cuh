// Types of the points, bins and lines of kernels, with their operations.
#pragma once

#include <cuda_fp16.h>
#include <vector_types.h>

#include "compute/cuda/k_points.h"
#include "compute/cuda/transform.cuh"
#include "compute/plan/cubic.h"
#include "compute/steps/sparse.h"

namespace echolux::cuda {

// ---- Operations on real or complex points of spectra and grids and on bins of profiles.

__device__ inline float2 conjugate(float2 a) {
    return {a.x, -a.y};
}

__device__ inline float2 times(float2 a, float factor) {
    return {a.x * factor, a.y * factor};
}

__device__ inline float weighted(float weight, float value) {
    return weight * value;
}

__device__ inline float2 weighted(float2 weight, float value) {
    return times(weight, value);
}

__device__ inline void accumulate(float& sum, float weight, float value) {
    sum += weight * value;
}

__device__ inline void accumulate(float2& sum, float weight, float2 value) {
    sum.x += weight * value.x;
    sum.y += weight * value.y;
}

__device__ inline Phasor phasor(float2 a) {
    return {a.x, a.y};
}

__device__ inline float2 point(Phasor a) {
    return {a.re, a.im};
}

__device__ inline float amplitude(float2 a) {
    return length_of(power_of(phasor(a)));
}

// ---- The same point of two lines in half precision, processed by the same instruction, and two such pairs side by
// side. With recipe.precision = fast, they pass through the transform of transform.cuh. Products and sums are rounded
// to eleven bits, which adds noise 62 dB below the strongest structure of a line (docs/performance.md shows the effect
// on codes).

// The same complex point of two lines a and b.
struct alignas(8) HalfPair {
    __half2 re, im;  // (a, b) each
};

__device__ inline HalfPair operator+(HalfPair p, HalfPair q) {
    return {__hadd2(p.re, q.re), __hadd2(p.im, q.im)};
}

__device__ inline HalfPair operator-(HalfPair p, HalfPair q) {
    return {__hsub2(p.re, q.re), __hsub2(p.im, q.im)};
}

__device__ inline HalfPair times_minus_i(HalfPair p) {
    return {p.im, __hneg2(p.re)};
}

// Exchanges real and imaginary part, see transform.cuh.
__device__ inline HalfPair exchanged(HalfPair p) {
    return {p.im, p.re};
}

__device__ inline HalfPair product(HalfPair p, __half2 re, __half2 im) {
    return {__hfma2(p.re, re, __hneg2(__hmul2(p.im, im))), __hfma2(p.re, im, __hmul2(p.im, re))};
}

__device__ inline HalfPair operator*(HalfPair p, HalfFactor factor) {
    return product(p, __low2half2(factor.parts), __high2half2(factor.parts));
}

__device__ inline HalfFactor operator*(HalfFactor a, HalfFactor b) {
    const __half2 re = __low2half2(b.parts), im = __high2half2(b.parts);
    const __half2 minus_plus = __halves2half2(__hneg(__low2half(im)), __low2half(im));
    return {__hfma2(a.parts, re, __hmul2(__lowhigh2highlow(a.parts), minus_plus))};
}

__device__ inline HalfFactor loaded(const HalfFactor* factor) {
    return {__ldg(&factor->parts)};
}

template <int n>
__device__ inline HalfPair rotated(HalfPair a) {
    const auto both = [](float value) { return __float2half2_rn(value); };
    constexpr float c = 0.92387953251128674f, s = 0.38268343236508977f, h = 0.70710678118654752f;
    if constexpr (n == 0) return a;
    if constexpr (n == 1) return product(a, both(c), both(-s));
    if constexpr (n == 2) return {__hmul2(__hadd2(a.re, a.im), both(h)), __hmul2(__hsub2(a.im, a.re), both(h))};
    if constexpr (n == 3) return product(a, both(s), both(-c));
    if constexpr (n == 4) return times_minus_i(a);
    if constexpr (n == 6) return {__hmul2(__hsub2(a.im, a.re), both(h)), __hmul2(__hadd2(a.re, a.im), both(-h))};
    if constexpr (n == 9) return product(a, both(-c), both(s));
}

// Each table access serves four lines.
struct alignas(16) HalfPairs {
    HalfPair ab, cd;
};

__device__ inline HalfPairs operator+(HalfPairs p, HalfPairs q) {
    return {p.ab + q.ab, p.cd + q.cd};
}

__device__ inline HalfPairs operator-(HalfPairs p, HalfPairs q) {
    return {p.ab - q.ab, p.cd - q.cd};
}

__device__ inline HalfPairs times_minus_i(HalfPairs p) {
    return {times_minus_i(p.ab), times_minus_i(p.cd)};
}

__device__ inline HalfPairs operator*(HalfPairs p, HalfFactor factor) {
    return {p.ab * factor, p.cd * factor};
}

template <int n>
__device__ inline HalfPairs rotated(HalfPairs p) {
    return {rotated<n>(p.ab), rotated<n>(p.cd)};
}

// ---- The four weights of a k grid point in kernels: computed from its offset, or read from a table.

// Computes the weights of LagrangeCubic from the offset.
struct CubicTaps {
    CubicTaps() = default;
    ECHOLUX_HD explicit CubicTaps(const float4*) {}

    __device__ void operator()(int, float offset, float (&weights)[4]) const {
        LagrangeCubic<float>{}(offset, weights);
    }
};

// Reads the weights from a table.
struct TabledTaps {
    const float4* taps;

    ECHOLUX_HD explicit TabledTaps(const float4* taps) : taps(taps) {}

    __device__ void operator()(int j, float, float (&weights)[4]) const {
        const float4 all = __ldg(taps + j);
        weights[0] = all.x, weights[1] = all.y, weights[2] = all.z, weights[3] = all.w;
    }
};

// For paths that are slow anyway.
struct EitherTaps {
    const float4* taps;  // null for cubic

    ECHOLUX_HD explicit EitherTaps(const float4* taps) : taps(taps) {}

    __device__ void operator()(int j, float offset, float (&weights)[4]) const {
        if (taps == nullptr) {
            CubicTaps{}(j, offset, weights);
        } else {
            TabledTaps{taps}(j, offset, weights);
        }
    }
};

}  // namespace echolux::cuda
