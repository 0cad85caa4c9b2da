// The simulator's velocities as a volume, to be shown over a reconstruction or compared with measured flow.
#pragma once

#include "engine/io/volume_file.h"
#include "engine/simulate/truth.h"

namespace echolux {

// Axial velocity in mm/s, positive away from zero delay, its mean over time, on the voxels of `grid`: f32, of the same
// extents and spacing. Throws Error{bad_setting} for a grid that is not of this scan.
Volume true_flow(const Truth& truth, const VolumeGrid& grid);

}  // namespace echolux
