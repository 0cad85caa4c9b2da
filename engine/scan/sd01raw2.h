// Raw B-scans of a 930 nm spectral-domain instrument (magic SD01RAW2). The file has a 512-byte header, a 40-byte frame
// header, background lines, the A-scans (all u16 little-endian), an offset spectrum, and the position of each sample on
// the uniform k grid (both f32).
#pragma once

#include <filesystem>

namespace echolux {

struct Scan;

// Returns whether the file begins with the magic.
bool is_sd01raw2(const std::filesystem::path& path);

// Fills file, format, geometry and calibration (background: mean of the background lines; k positions). The offset
// spectrum is ignored: it is summed over an unknown number of exposures, so its unit is unknown. Throws
// Error{bad_file}.
void describe_sd01raw2(const std::filesystem::path& path, Scan& scan);

}  // namespace echolux
