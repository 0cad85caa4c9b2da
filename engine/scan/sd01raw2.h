// Raw B-scans of a 930 nm spectral-domain instrument (magic SD01RAW2): 512-byte header, one 40-byte frame header, some
// background lines, the A-scans (all u16 little endian), then an offset spectrum and the place of each sample on the
// uniform k grid (f32).
#pragma once

#include <filesystem>

namespace echolux {

struct Scan;

// Repeats at the first bytes only.
bool is_sd01raw2(const std::filesystem::path& path);

// Fills file, format, geometry and calibration (background: mean of the background lines; k positions). The offset
// spectrum is not used: it holds sums over a number of exposures that the file does not state, so its counts are
// unknown. Throws Error{bad_file}.
void describe_sd01raw2(const std::filesystem::path& path, Scan& scan);

}  // namespace echolux
