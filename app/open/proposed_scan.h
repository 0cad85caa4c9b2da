// A proposal of what an unknown raw file holds, as a scan for the user to check: the window shows it with a picture,
// `info --guess` prints it with its reasons.
#pragma once

#include <filesystem>
#include <string>

#include "engine/io/raw_guess.h"
#include "engine/scan/scan.h"

namespace echolux {

// Nothing but file, format and sizes is set; its path is that of the TOML file beside `raw`.
Scan scan_of_guess(const std::filesystem::path& raw, const RawGuess& guess);

// The best proposal as TOML, with comments that say why and what else would fit. `file` is the raw file as the TOML
// names it. Throws Error{bad_file}: nothing fits; Error{bad_setting}: the file says itself what it holds.
std::string proposed_toml(const std::filesystem::path& raw, const std::string& file);

// The same into a file that is not there yet. Throws Error{output} too.
void write_proposed_toml(const std::filesystem::path& raw, const std::filesystem::path& toml, bool overwrites = false);

}  // namespace echolux
