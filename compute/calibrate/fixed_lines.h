// Fixed lines: reflections of the instrument's own glass, which all A-scans hold at one depth and equally strong, while
// their phase may drift. What all lines of a block share, up to a phase, is one spectrum, found as the strongest
// direction of many lines and then by weighted means in which single bright reflectors have little say.
#pragma once

#include <cstdint>

#include "compute/depth_entropy.h"

namespace echolux {

// Takes out up to three; returns how many there were. Fewer than 16 lines share too much by chance: nothing is taken
// out of them.
std::int64_t take_out_fixed_lines(SpectraOnGrid& spectra);

}  // namespace echolux
