// Flattening of a volume: its A-scans are shifted in depth.
#pragma once

#include <vector>

#include "engine/io/volume_file.h"

namespace echolux {

// Returns the row of the surface after flattening: its rounded mean.
double flat_row(const std::vector<float>& rows);

// Moves each A-scan up by rows[b_scan][a_scan] - flat_row(rows), interpolating linearly between rows; end voxels extend
// beyond the ends. Interpolates codes and rounds integers. Throws Error{bad_setting} for complex voxels.
void flatten(Volume& volume, const std::vector<float>& rows);

}  // namespace echolux
