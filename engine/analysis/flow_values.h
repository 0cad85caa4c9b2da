// Flow as numbers that any program reads.
#pragma once

#include "engine/io/volume_file.h"

namespace echolux {

// Phasors as axial velocities in mm/s (phases in rad where no velocity is known for them), halves as they are; f32. 0
// where nothing is known.
Volume flow_values(const Volume& codes);

}  // namespace echolux
