// Finds settings and calibration vectors that are valid but unlikely, such as those in another unit or of another
// file. The loaders reject invalid ones.
#pragma once

#include <string>
#include <vector>

namespace echolux {

struct Scan;

// Returns a line for each, with the likely unit.
std::vector<std::string> implausible_settings(const Scan& scan);

}  // namespace echolux
