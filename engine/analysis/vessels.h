// Where vessels run below the surface, seen from above: brighter than the tissue at their depth over the thickness of a
// lumen.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/io/volume_file.h"

namespace echolux {

// [b_scan][a_scan], 1 where a vessel lies between `first_row` and `last_row` below `surface` (rows, [b_scan][a_scan]).
// The threshold is Otsu's. Throws Error{bad_setting} for an empty range.
std::vector<std::uint8_t> find_vessels(const Volume& volume, const std::vector<float>& surface, std::int64_t first_row,
                                       std::int64_t last_row);

// Dice coefficient of two masks of the same size: 1 when equal.
double dice(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b);

}  // namespace echolux
