// Raw spectra in Thorlabs .oct archives (ThorImage; data/Spectral0.data, ...) as one scan. The layout follows Thorlabs'
// MATLAB reader.
#pragma once

#include <filesystem>

namespace echolux {

struct Scan;

// Decompresses the spectra to a file that is removed with the last copy of `scan`. Calibration: chirp -> k positions,
// offset errors -> dark, reference lines -> background. Throws Error{bad_file, output (disk full)}.
void describe_thorlabs(const std::filesystem::path& path, Scan& scan);

}  // namespace echolux
