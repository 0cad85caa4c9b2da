// The transfer functions that came with the program (assets/transfer), each in the unit that its values are known in.
// A user's own are read by app/transfer, with all that can be wrong about them, and come with the view.
#pragma once

#include <string_view>

#include "compute/types.h"
#include "render/view/curve.h"

namespace echolux {

inline constexpr std::string_view automatic_preset = "automatic";

bool is_shipped_preset(std::string_view name);

// Extinction is per depth of the volume. `automatic` is chosen for the volume's quantity; gray for an unknown name.
const TransferCurve& preset_curve(std::string_view preset, const VolumeGrid& grid);

}  // namespace echolux
