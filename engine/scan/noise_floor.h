// What recipe.noise_floor_db = 0 becomes, from spectra of the scan itself.
#pragma once

#include "compute/place.h"
#include "compute/plan/params.h"

namespace echolux {

// In dB, of some B-scans given as one block. Rounded, so that it reads well in files and does not hang on the last bits
// of a backend. Where there is no noise at all (constant spectra) nothing is subtracted, so that emptiness stays at the
// bottom of the range.
double noise_floor_for_recipe(const ReconstructionSpec& spec, const Block& block);

}  // namespace echolux
