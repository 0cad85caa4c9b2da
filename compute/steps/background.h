// Background of a B-scan (docs/algorithms.md 2.2 a-c), computed from exact sums. Both backends return the same bits:
// every operation is rounded once in a fixed order, and the fused multiply-add is explicit.
#pragma once

#include <cmath>

#include "compute/host_device.h"
#include "compute/plan/params.h"

namespace echolux {

// Returns whether each acquired B-scan gets its own background, computed from its lines.
inline bool found_for_each_frame(Background mode) {
    return mode == Background::frame_mean || mode == Background::running || mode == Background::median;
}

// Exponential running mean: b <- (1 - alpha) b + alpha mean.
struct RunningMean {
    double alpha = 1;

    ECHOLUX_HD double operator()(double running, double mean) const {
        const double kept = (1 - alpha) * running;
        return std::fma(alpha, mean, kept);
    }
};

// A background split into two floats, so that sample - whole is exact.
struct SplitBackground {
    float whole;
    float rest;

    ECHOLUX_HD explicit SplitBackground(double background)
        : whole(static_cast<float>(std::nearbyint(background))),
          rest(static_cast<float>(background - static_cast<double>(whole))) {}
};

}  // namespace echolux
