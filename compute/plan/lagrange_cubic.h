// Weights of four samples for a point between them, the cubic through all of them (docs/algorithms.md 3.4): for tables
// in double precision, and in kernels that make their own.
#pragma once

#include "compute/host_device.h"

namespace echolux {

// Of the samples i - 1 .. i + 2 at i + t.
template <class Real>
struct LagrangeCubic {
    ECHOLUX_HD void operator()(Real t, Real (&weights)[4]) const {
        const Real sixth = t * (t - 1) * (Real{1} / 6);
        weights[0] = sixth * (2 - t);
        weights[3] = sixth * (t + 1);
        weights[2] = t - 2 * weights[3] + weights[0];
        weights[1] = 1 - t - 2 * weights[0] + weights[3];
    }
};

}  // namespace echolux
