// Compares specs to decide whether one plan serves both. Uses the parameter descriptions, so that new parameters are
// compared automatically.
#pragma once

#include <algorithm>

#include "compute/plan/describe.h"
#include "compute/plan/params.h"

namespace echolux {

template <class S>
bool has_same_settings(const S& a, const S& b) {
    return std::ranges::all_of(describe<S>(), [&](const Field<S>& field) { return field.get(a) == field.get(b); });
}

bool is_same_calibration(const Calibration& a, const Calibration& b);

// Returns whether one plan serves both specs. The number of volumes is ignored, unless every line of all volumes has
// its own calibration.
bool is_same_plan(const ReconstructionSpec& a, const ReconstructionSpec& b);

}  // namespace echolux
