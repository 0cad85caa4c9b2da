// Dispersion coefficients that make depth profiles sharpest: the least entropy of the power over depth, pooled over
// lines (B. Hofer et al., Opt. Express 17(1), 2009; docs/algorithms.md 3.11).
#pragma once

#include <cstdint>
#include <functional>

#include "compute/reconstructor.h"

namespace echolux {

struct DispersionSearch {
    double range_rad = 80;         // of a2 and a3, on either side of zero
    std::int64_t lines = 64;       // most of the block that are looked at, spread evenly
    std::int64_t depth_begin = 0;  // bins; 0: past zero delay
    std::int64_t depth_end = 0;    // 0: the end
};

struct DispersionFound {
    double a2_rad = 0;
    double a3_rad = 0;
    double entropy_before = 0;  // with the plan's own coefficients
    double entropy = 0;
    std::int64_t trials = 0;
};

// Asked now and then, with the share of the work that is done; false: stop.
using GoesOn = std::function<bool(double done)>;

// What recipe.a2_rad and a3_rad should be, beside whatever else the plan has of dispersion (a file, gdd_fs2, tod_fs3).
// The object lies on one side of zero delay: the other side would be sharpest with the opposite signs. `block` holds
// one or more B-scans in host memory. Throws Error{bad_setting} where the block holds nothing but zeros,
// Error{cancelled}.
DispersionFound searched_dispersion(const ReconstructionPlan& plan, const Block& block, const DispersionSearch& wanted,
                                    const GoesOn& goes_on);

}  // namespace echolux
