// Checks whether spectra match the line length, sample type and byte order that a scan states. Uses the measures that
// guess the layout of an unknown raw file (engine/io/raw_guess.h).
#pragma once

#include <string>
#include <vector>

#include "compute/place.h"
#include "engine/scan/scan.h"

namespace echolux {

// Returns a line for each doubt. `block` holds whole B-scans in host memory.
std::vector<std::string> layout_doubts(const Scan& scan, const Block& block);

}  // namespace echolux
