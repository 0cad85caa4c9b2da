// Checks of a valid scan that produce warnings: spectra that do not match the stated layout, and unlikely values.
#pragma once

#include <string>
#include <vector>

#include "compute/voxel_target.h"
#include "engine/scan/scan.h"

namespace echolux {

// ---- Checks whether spectra match the line length, sample type and byte order that a scan states. Uses the measures
// that guess the layout of an unknown raw file (engine/io/raw_guess.h).

// Returns a line for each doubt. `block` holds whole B-scans in host memory.
std::vector<std::string> layout_doubts(const Scan& scan, const Block& block);

// ---- Finds settings and calibration vectors that are valid but unlikely, such as those in another unit or of another
// file. The loaders reject invalid ones.

// Returns a line for each, with the likely unit.
std::vector<std::string> implausible_settings(const Scan& scan);

}  // namespace echolux
