// Converts flow codes to numbers that any program can read.
#pragma once

#include "engine/io/volume_file.h"

namespace echolux {

// Returns f32: phasors as axial velocities in mm/s, or as phases in rad if v_max is unknown; half floats unchanged. 0
// where the flow is unknown.
Volume flow_values(const Volume& codes);

}  // namespace echolux
