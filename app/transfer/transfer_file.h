// Files of transfer functions: reads and writes our own TOML (example in docs/rendering.md), and reads ParaView's JSON.
#pragma once

#include <filesystem>

#include "render/transfer_function.h"
#include "render/view/curve.h"

namespace echolux {

// Reads *.json as described in paraview_file.h, and all other files as TOML. Throws Error{bad_file, bad_setting} with
// file and key.
TransferCurve read_transfer(const std::filesystem::path& path);

// Throws Error{bad_setting} unless the name is *.toml.
void check_transfer_name(const std::filesystem::path& path);

// Throws what check_transfer_name() throws, and Error{output}.
void write_transfer(const std::filesystem::path& path, const TransferCurve& curve);

// Reads the files named by a view: `transfer` (if empty, a curve of the view is kept), that of its preset, and the sky
// picture.
void load_transfer(View& view);

// Reads the user's file with the name of the preset, if it exists.
void load_own_preset(View& view);

// Returns the curve on screen in file format: in values of the volume, with `view.opacity` included in the extinctions.
TransferCurve curve_in_use(const View& view, const VolumeGrid& grid, const TransferFunction& function);

}  // namespace echolux
