// Height maps from files: depths in micrometres from zero delay, one for each A-scan. CSV: a line for each B-scan with
// a number for each A-scan, split by commas, semicolons or blanks, '#' starts a comment. Volume files (NRRD, TIFF,
// ...): columns are A-scans, rows (or slices, where there is one row) B-scans.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace echolux {

// [b_scan][a_scan]. Throws Error{bad_file} naming the file and line: missing, unreadable, a number that is not finite,
// or not of this size.
std::vector<float> read_heights(const std::filesystem::path& path, std::int64_t a_scans, std::int64_t b_scans);

}  // namespace echolux
