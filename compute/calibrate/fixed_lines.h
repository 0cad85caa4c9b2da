// Removal of fixed lines: reflections inside the instrument that all A-scans contain at the same depth and strength,
// although their phase may drift. The spectrum that all lines of a block share up to a phase is the strongest direction
// of many lines, refined by weighted means that limit the influence of single bright reflectors.
#pragma once

#include <cstdint>

#include "compute/depth_entropy.h"

namespace echolux {

// Removes up to three fixed lines and returns their number. Returns 0 for fewer than 16 lines, which are too similar by
// chance.
std::int64_t take_out_fixed_lines(SpectraOnGrid& spectra);

}  // namespace echolux
