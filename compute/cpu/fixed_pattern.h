// Removes fixed lines in depth from a whole B-scan after the transform (docs/algorithms.md 2.2 d and e; Moon 2010).
#pragma once

#include <complex>
#include <cstdint>

#include "compute/plan/params.h"

namespace echolux::cpu {

// Subtracts the pattern of depth bin `z` from all `lines` of a B-scan stored as [lines][depth]. `column` is scratch
// memory for `lines` floats.
void remove_fixed_pattern(FixedPattern mode, std::int64_t segments, std::complex<float>* b_scan, std::int64_t lines,
                          std::int64_t depth, std::int64_t z, float* column);

}  // namespace echolux::cpu
