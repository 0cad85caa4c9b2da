// Colour maps as ParaView exports them: JSON with `RGBPoints` (value, red, green, blue) and, where opacity was exported
// too, `Points` (value, opacity, midpoint, sharpness).
#pragma once

#include <filesystem>

#include "render/view/curve.h"

namespace echolux {

// The first map of the file; straight lines between its points, whatever the colour space they were mixed in. Values
// from 0 to 1 or -1 to 1, as in ParaView's own presets, are relative; others mean what they say. ParaView counts
// opacity over about a voxel: here over a hundredth of the volume's depth. Without opacity that of the preset gray is
// taken. Throws Error{bad_file, bad_setting}.
TransferCurve read_paraview(const std::filesystem::path& path);

}  // namespace echolux
