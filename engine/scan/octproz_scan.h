// Raw spectra recorded by OCTproZ: NAME_raw.raw with a copy of the program's settings (INI) beside it. Supported keys,
// in any group: bit_depth, width = samples, height = A-scans, depth = B-scans per buffer, buffers_per_volume. Also
// those of [processing] for resampling, dispersion, flipped B-scans and bit shift.
#pragma once

#include <filesystem>

namespace echolux {

struct Scan;

// Returns whether the path is such a settings file, or a .raw file with one beside it.
bool is_octproz_scan(const std::filesystem::path& path);

// Fills file, format, geometry and calibration. `path` is either of the two files. Throws Error{bad_file}.
void describe_octproz(const std::filesystem::path& path, Scan& scan);

}  // namespace echolux
