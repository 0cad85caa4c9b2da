// Frames of a catheter as pictures (Cartesian), converted to A-scans over a full turn.
#pragma once

#include "engine/io/volume_file.h"

namespace echolux {

// Returns whether B-scans are square pictures of a disc: their corners are dark, where polar frames show the catheter.
// false for complex voxels.
bool is_cartesian_frame(const Volume& volume);

// Returns the frames around their centre: an A-scan per degree, clockwise from the right as displayed, row 0 is the
// centre. Interpolates between voxels; keeps their type, quantity and spacing.
Volume polar_frame(const Volume& volume);

}  // namespace echolux
