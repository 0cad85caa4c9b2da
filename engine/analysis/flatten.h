// A-scans shifted in depth until a surface lies flat.
#pragma once

#include <vector>

#include "engine/io/volume_file.h"

namespace echolux {

// The row at which the surface lies afterwards: its mean, rounded.
double flat_row(const std::vector<float>& rows);

// Each A-scan is moved up by rows[b_scan][a_scan] - flat_row(rows), with linear interpolation between rows; beyond its
// ends its last voxel goes on. Codes are interpolated, and rounded where they are whole numbers. Throws
// Error{bad_setting} for complex voxels.
void flatten(Volume& volume, const std::vector<float>& rows);

}  // namespace echolux
