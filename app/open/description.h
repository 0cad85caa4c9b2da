// Description of a file as the program understands it, and proposed scans for raw files without a description.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "compute/types.h"
#include "engine/io/raw_guess.h"
#include "engine/scan/scan.h"
#include "engine/scan/settings.h"

namespace echolux {

// ---- Summary of a scan with its defaults and missing parts, of a volume, or of the record of a picture.

// A line of a description: "depth pitch", 1.34, "um".
struct Fact {
    std::string name;
    std::variant<std::monostate, std::int64_t, double, std::string> value;  // monostate: unknown
    std::string unit;
    std::string remark;
};

struct Description {
    std::string kind;  // "scan", "volume" or "picture"
    std::vector<Fact> facts;
    std::vector<BoundField> settings;  // of a scan; their get() is valid for the lifetime of the description
    std::vector<std::string> missing;  // suggestions to improve the result, and how to apply them
    std::shared_ptr<void> keeper;      // owns the object that `settings` refer to
};

// `assignments` as in open_scan. Throws Error{bad_file, bad_setting}.
Description described(const std::filesystem::path& path, const std::vector<std::string>& assignments);

// ---- Proposed scan for a raw file of unknown layout. The window shows it with a picture, for the user to check, and
// `info --guess` prints it with its reasons.

// Only file, format and sizes are set. Its path is that of the TOML file beside `raw`.
Scan scan_of_guess(const std::filesystem::path& raw, const RawGuess& guess);

struct ScanProposal {
    std::string toml;                   // with comments on the reasons and the alternatives
    std::vector<RawGuess> guesses{};    // best first; empty if the file describes itself
    std::vector<std::string> doubts{};  // reasons why the best guess is uncertain, one line each
};

// Returns the best proposal. `file` is the name of the raw file in the TOML. Throws Error{bad_file} if nothing fits,
// and Error{bad_setting} if the file describes itself.
ScanProposal proposed_scan(const std::filesystem::path& raw, const std::string& file);

// Writes the proposal to a new file. Also throws Error{output}.
ScanProposal write_proposed_toml(const std::filesystem::path& raw, const std::filesystem::path& toml,
                                 bool overwrites = false);

// Returns the reasons why the first guess is uncertain, one line each. `file_name` may state another format.
std::vector<std::string> doubts_about(const std::vector<RawGuess>& guesses, const std::string& file_name);

// Returns the sample format as text: "u16", "u16, big-endian".
std::string samples_text(const RawGuess& guess);

}  // namespace echolux
