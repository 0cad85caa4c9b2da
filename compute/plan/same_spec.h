// Whether one plan serves two specs: found from the descriptions of their parameters, so that a new one counts from the
// day on which it is described.
#pragma once

#include <algorithm>

#include "compute/plan/params.h"

namespace echolux {

template <class S>
bool has_same_settings(const S& a, const S& b) {
    return std::ranges::all_of(describe<S>(), [&](const Field<S>& field) { return field.get(a) == field.get(b); });
}

bool is_same_calibration(const Calibration& a, const Calibration& b);

// The number of volumes is no part of a plan, except where lines of all volumes are calibrated each by itself.
bool is_same_plan(const ReconstructionSpec& a, const ReconstructionSpec& b);

}  // namespace echolux
