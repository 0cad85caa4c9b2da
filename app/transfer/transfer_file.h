// Transfer functions as files and settings: reads and writes our own TOML (example in docs/rendering.md), and reads the
// JSON of ParaView. Also reads the sky picture of a view.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/plan/described.h"
#include "render/transfer_function.h"
#include "render/view/curve.h"
#include "render/view/view.h"

namespace echolux {

// ---- Text: a transfer function as settings, section [transfer] of our files and sessions, and of undo steps.

// Key of the view's curve in addition to the described keys. Its value is the text of a transfer function file; empty:
// the preset's curve.
inline constexpr std::string_view curve_key = "view.transfer_curve";

struct TransferText {
    std::int64_t version = 1;  // of this format
    std::string unit;
    bool relative = false;
    double length_um = 0;
    std::vector<double> colours{};
    std::vector<double> extinctions{};
    std::vector<double> roughness{};
    std::string second{};  // axis; "": none
    std::vector<double> second_range{};
    std::vector<double> boxes{};
    std::vector<double> arcs{};
    std::vector<double> strokes{};
};

template <>
const std::vector<Field<TransferText>>& describe<TransferText>();

TransferText text_of(const TransferCurve& curve);

// Throws Error{bad_setting} with `where` and the key.
TransferCurve curve_of(const TransferText& text, const std::string& where);

// Convert to and from the text of a TOML file; empty: no curve.
std::string toml_of(const std::optional<TransferCurve>& curve);
std::optional<TransferCurve> curve_of_toml(const std::string& toml);

// ---- Files

// Reads *.json as ParaView's, and all other files as TOML. Throws Error{bad_file, bad_setting} with file and key.
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

// ---- Sky

// Reads `sky_picture`, or releases the picture read earlier if it is empty. Throws Error{bad_file}.
void load_sky(View& view);

}  // namespace echolux
