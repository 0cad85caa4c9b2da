// Table-driven interpolation (docs/algorithms.md 3.1-3.5): a few taps of the spectrum per point of the uniform k grid,
// and the prefilter that converts samples to cubic B-spline coefficients.
#pragma once

#include <cstdint>

#include "compute/host_device.h"

namespace echolux {

// Returns point j of the k grid from `taps` samples of a spectrum.
template <int taps>
struct Resampled {
    // [points], first sample of each point.
    const std::int32_t* base;
    const float* weights;  // [points][taps]

    ECHOLUX_HD float operator()(const float* spectrum, std::int64_t j) const {
        const float* x = spectrum + base[j];
        const float* w = weights + j * taps;
        float value = 0;
        for (int m = 0; m < taps; ++m) value += w[m] * x[m];
        return value;
    }
};

// c_i = sqrt(3) sum over |d| <= reach of z1^|d| x_(i+d), z1 = sqrt(3) - 2: the impulse response of the recursive
// filter, truncated where it falls below 1e-8. Beyond its ends x continues with point symmetry, which yields the
// natural spline.
struct SplinePrefilter {
    static constexpr int reach = 14;

    // Returns coefficient i. `x` must be readable from i - reach to i + reach.
    ECHOLUX_HD float operator()(const float* x, std::int64_t i) const {
        // sqrt(3) * z1^d
        constexpr float taps[reach + 1] = {1.73205081f,    -0.464101615f,    0.124355653f,    -0.0333209968f,
                                           0.00892833418f, -0.00239233993f,  0.000641025553f, -0.000171762279f,
                                           4.6023564e-05f, -1.23319768e-05f, 3.30434323e-06f, -8.853961e-07f,
                                           2.3724117e-07f, -6.35685799e-08f, 1.70331496e-08f};
        float value = taps[0] * x[i];
        for (int d = 1; d <= reach; ++d) value += taps[d] * (x[i - d] + x[i + d]);
        return value;
    }
};

}  // namespace echolux
