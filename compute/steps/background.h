// The background of a B-scan (docs/algorithms.md 2.2 a-c), from sums that are exact. Both backends get the same bits:
// every operation is rounded once, in an order that is written down, the fused one spelled out.
#pragma once

#include <cmath>

#include "compute/host_device.h"
#include "compute/plan/params.h"

namespace echolux {

// Whether each acquired B-scan has a background of its own, found from its lines.
inline bool found_for_each_frame(Background mode) {
    return mode == Background::frame_mean || mode == Background::running || mode == Background::median;
}

// b <- (1 - alpha) b + alpha mean.
struct RunningMean {
    double alpha = 1;

    ECHOLUX_HD double operator()(double running, double mean) const {
        const double kept = (1 - alpha) * running;
        return std::fma(alpha, mean, kept);
    }
};

// A background in two floats: sample - whole is exact.
struct SplitBackground {
    float whole;
    float rest;

    ECHOLUX_HD explicit SplitBackground(double background)
        : whole(static_cast<float>(std::nearbyint(background))),
          rest(static_cast<float>(background - static_cast<double>(whole))) {}
};

}  // namespace echolux
