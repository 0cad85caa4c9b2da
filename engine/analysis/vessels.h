// Vessels below the surface, seen from above: they are brighter than other tissue at the same depth over the thickness
// of a lumen.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/io/volume_file.h"

namespace echolux {

// Returns [b_scan][a_scan], 1 where a vessel is between `first_row` and `last_row` below `surface` (rows,
// [b_scan][a_scan]). Uses Otsu's threshold. Throws Error{bad_setting} for an empty range.
std::vector<std::uint8_t> find_vessels(const Volume& volume, const std::vector<float>& surface, std::int64_t first_row,
                                       std::int64_t last_row);

// Returns the Dice coefficient of two masks of the same size: 1 if equal.
double dice(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b);

}  // namespace echolux
