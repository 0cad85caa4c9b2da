// Colour maps exported by ParaView: JSON with `RGBPoints` (value, red, green, blue) and, if opacity was exported,
// `Points` (value, opacity, midpoint, sharpness).
#pragma once

#include <filesystem>

#include "render/view/curve.h"

namespace echolux {

// Reads the first map of the file, with linear interpolation between points in any colour space. Values from 0 to 1 or
// -1 to 1, as in ParaView's presets, are relative; others are absolute. ParaView's opacity applies to about a voxel;
// here, to a hundredth of the volume's depth. Without opacity, that of preset gray is used. Throws Error{bad_file,
// bad_setting}.
TransferCurve read_paraview(const std::filesystem::path& path);

}  // namespace echolux
