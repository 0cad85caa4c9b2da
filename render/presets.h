// The transfer functions that need no file, each in the unit that its values are known in.
#pragma once

#include "compute/types.h"
#include "render/view/curve.h"

namespace echolux {

// Extinction is per depth of the volume. `automatic` is chosen for the volume's quantity.
const TransferCurve& preset_curve(Preset preset, const VolumeGrid& grid);

}  // namespace echolux
