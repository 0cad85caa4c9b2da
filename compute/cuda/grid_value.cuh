// Points of a grid and bins of a profile, real or complex, in the kernels of compressive sensing.
#pragma once

#include <vector_types.h>

#include "compute/cuda/butterflies.cuh"
#include "compute/steps/depth.h"
#include "compute/steps/sparse.h"

namespace echolux::cuda {

__device__ inline float2 conjugate(float2 a) {
    return {a.x, -a.y};
}

__device__ inline float2 times(float2 a, float factor) {
    return {a.x * factor, a.y * factor};
}

__device__ inline void accumulate(float& sum, float weight, float value) {
    sum += weight * value;
}

__device__ inline void accumulate(float2& sum, float weight, float2 value) {
    sum.x += weight * value.x;
    sum.y += weight * value.y;
}

__device__ inline float power(float2 a) {
    return multiply_add(a.x, a.x, a.y * a.y);
}

__device__ inline float amplitude(float2 a) {
    return length_of(power(a));
}

// One bin of a try: where it goes along the gradient, less the threshold, and how far that is.
struct TriedBin {
    float2 next;
    float2 step;

    __device__ TriedBin(float2 now, float2 gradient, float length, float threshold, int bin, StepSums<float>& sums) {
        const float2 moved = now - times(gradient, length);
        const float before = amplitude(moved), kept = kept_by_threshold(before, threshold);
        const float share = share_of_norm(bin);
        next = times(moved, kept);
        step = next - now;
        sums.step += share * power(step);
        sums.amplitudes += share * before * kept;
    }
};

// What a step has changed in a sample.
__device__ inline void add_change(float residual, float change, StepSums<float>& sums) {
    const float after = residual + change;
    sums.seen += change * change;
    sums.left += after * after;
}

}  // namespace echolux::cuda
