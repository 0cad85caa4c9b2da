// Proposes the layout of an unknown raw file as a proposed scan, for the user to check. The window shows it with a
// picture; `info
// --guess` prints it with its reasons.
#pragma once

#include <filesystem>
#include <string>

#include "engine/io/raw_guess.h"
#include "engine/scan/scan.h"

namespace echolux {

// Only file, format and sizes are set. Its path is that of the TOML file beside `raw`.
Scan scan_of_guess(const std::filesystem::path& raw, const RawGuess& guess);

// Returns the best proposal as TOML, with comments on its reasons and the alternatives. `file` is the name of the raw
// file in the TOML. Throws Error{bad_file} if nothing fits, and Error{bad_setting} if the file describes itself.
std::string proposed_toml(const std::filesystem::path& raw, const std::string& file);

// Writes the proposal to a new file. Also throws Error{output}.
void write_proposed_toml(const std::filesystem::path& raw, const std::filesystem::path& toml, bool overwrites = false);

}  // namespace echolux
