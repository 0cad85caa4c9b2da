// Operations on real or complex points of spectra and grids and on bins of profiles.
#pragma once

#include <vector_types.h>

#include "compute/cuda/butterflies.cuh"
#include "compute/steps/sparse.h"

namespace echolux::cuda {

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

}  // namespace echolux::cuda
