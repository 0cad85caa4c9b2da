// The four weights of a k grid point in kernels: computed from its offset, or read from a table.
#pragma once

#include <vector_types.h>

#include "compute/plan/cubic.h"

namespace echolux::cuda {

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
