// Proposes the layout of an unknown raw file as a proposed scan, for the user to check. The window shows it with a
// picture; `info
// --guess` prints it with its reasons.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/io/raw_guess.h"
#include "engine/scan/scan.h"

namespace echolux {

// Only file, format and sizes are set. Its path is that of the TOML file beside `raw`.
Scan scan_of_guess(const std::filesystem::path& raw, const RawGuess& guess);

struct ScanProposal {
    std::string toml;                   // with comments on the reasons and the alternatives
    std::vector<RawGuess> guesses{};    // best first; empty if the file describes itself
    std::vector<std::string> doubts{};  // reasons why the best guess is uncertain, one line each
};

// Returns the best proposal. `file` is the name of the raw file in the TOML. Throws Error{bad_file} if nothing fits, and
// Error{bad_setting} if the file describes itself.
ScanProposal proposed_scan(const std::filesystem::path& raw, const std::string& file);

// Writes the proposal to a new file. Also throws Error{output}.
ScanProposal write_proposed_toml(const std::filesystem::path& raw, const std::filesystem::path& toml,
                                 bool overwrites = false);

// Returns the reasons why the first guess is uncertain, one line each. `file_name` may state another format.
std::vector<std::string> doubts_about(const std::vector<RawGuess>& guesses, const std::string& file_name);

// Returns the sample format as text: "u16", "u16, big-endian".
std::string samples_text(const RawGuess& guess);

}  // namespace echolux
