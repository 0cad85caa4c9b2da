// Weights of the cubic through four samples, for a point between the middle two (docs/algorithms.md 3.4). Used in
// double precision for tables, and in kernels that compute their own weights.
#pragma once

#include "compute/host_device.h"

namespace echolux {

// Computes the weights of samples i - 1 .. i + 2 at position i + t.
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
