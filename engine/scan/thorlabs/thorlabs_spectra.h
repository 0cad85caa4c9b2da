// Raw spectra in Thorlabs .oct archives (ThorImage; data/Spectral0.data, ...) as a scan. Layout as Thorlabs' own MATLAB
// reader takes it.
#pragma once

#include <filesystem>

namespace echolux {

struct Scan;

// The spectra, unpacked into a file that is removed with the last copy of `scan`. Calibration: chirp -> k positions,
// offset errors -> dark, lines of the reference alone -> background. Throws Error{bad_file, output (no room)}.
void describe_thorlabs(const std::filesystem::path& path, Scan& scan);

}  // namespace echolux
