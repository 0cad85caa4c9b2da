// What aligning does to a sample: features of a B-scan, the place of a peak between samples, cubic resampling of power.
#pragma once

#include <cmath>

#include "compute/host_device.h"

namespace echolux {

// A strong reflector must not decide alone where a B-scan lies: the logarithm of the power, over a floor.
struct LogFeature {
    float floor = 1;

    ECHOLUX_HD float operator()(float power) const { return std::log((power > 0 ? power : 0.0f) + floor); }
};

// The extremum of the parabola through three neighbours, from the middle one; at most half a sample.
ECHOLUX_HD inline float parabola_peak(float left, float middle, float right) {
    const float curvature = left - 2 * middle + right;
    if (!(curvature < 0)) return 0;
    const float place = (left - right) / (2 * curvature);
    return place > 0.5f ? 0.5f : place < -0.5f ? -0.5f : place;
}

// Weights of the samples -1, 0, 1, 2 of a cubic B-spline, `part` of the way from sample 0 to sample 1.
struct CubicWeights {
    float weight[4];

    ECHOLUX_HD explicit CubicWeights(float part)
        : weight{(1 - part) * (1 - part) * (1 - part) / 6, (4 + part * part * (3 * part - 6)) / 6,
                 (1 + part * (3 + part * (3 - 3 * part))) / 6, part * part * part / 6} {}
};

}  // namespace echolux
