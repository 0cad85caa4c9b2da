// Height maps: one depth per A-scan, in micrometres from zero delay. CSV files have one line per B-scan and one number
// per A-scan, separated by commas, semicolons or blanks; '#' starts a comment. In volume files (NRRD, TIFF, ...),
// columns are A-scans and rows are B-scans; if there is only one row, slices are B-scans.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace echolux {

// Reads a map as [b_scan][a_scan]. Throws Error{bad_file}, naming file and line, if it is missing, unreadable, of
// another size, or contains a non-finite number.
std::vector<float> read_heights(const std::filesystem::path& path, std::int64_t a_scans, std::int64_t b_scans);

}  // namespace echolux
