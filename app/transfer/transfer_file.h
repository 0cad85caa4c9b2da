// Transfer functions in files: our own TOML (docs/transfer-functions.md) in and out, ParaView's JSON in.
#pragma once

#include <filesystem>

#include "render/transfer_function.h"
#include "render/view/curve.h"

namespace echolux {

// *.json: see paraview_file.h; all else is TOML. Throws Error{bad_file, bad_setting} naming file and key.
TransferCurve read_transfer(const std::filesystem::path& path);

// Throws Error{bad_setting} unless it is named *.toml.
void check_transfer_name(const std::filesystem::path& path);

// Throws as check_transfer_name(), and Error{output}.
void write_transfer(const std::filesystem::path& path, const TransferCurve& curve);

// Reads the files that a view names: `transfer`, without which a curve of its own stays, that of its preset, and the
// picture of its sky.
void load_transfer(View& view);

// Reads the user's own file of the name that `preset` is, if there is one.
void load_own_preset(View& view);

// What is on screen, as a file has it: in the volume's values, `view.opacity` in its extinctions.
TransferCurve curve_in_use(const View& view, const VolumeGrid& grid, const TransferFunction& function);

}  // namespace echolux
