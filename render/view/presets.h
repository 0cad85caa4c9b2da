// Transfer functions shipped with the program (assets/transfer), in the unit of their values. app/transfer reads and
// validates user-defined ones, which are part of the view.
#pragma once

#include <string_view>

#include "compute/types.h"
#include "render/view/curve.h"

namespace echolux {

inline constexpr std::string_view automatic_preset = "automatic";

// Returns true for the names of shipped presets and for "automatic".
bool is_shipped_preset(std::string_view name);

// Returns the curve of a preset, with extinctions per depth of the volume. "automatic" depends on the volume's
// quantity; unknown names give "gray".
const TransferCurve& preset_curve(std::string_view preset, const VolumeGrid& grid);

}  // namespace echolux
