// Thorlabs .oct archives (ThorImage): the instrument's picture (data/Intensity.data, f32 in dB) as a volume, and the
// raw spectra (data/Spectral0.data, ...) as a scan. Layout as Thorlabs' own MATLAB reader takes it.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/io/image_stream.h"

namespace echolux {

struct Scan;

// The picture. Throws Error{bad_file}; where there are only spectra, it says how to reconstruct them.
std::unique_ptr<ImageReader> open_thorlabs(const std::filesystem::path& path);

bool is_thorlabs_oct(const std::filesystem::path& path);

// The spectra, unpacked into a file that is removed with the last copy of `scan`. Calibration: chirp -> k positions,
// offset errors -> dark, lines of the reference alone -> background. Throws Error{bad_file, output (no room)}.
void describe_thorlabs(const std::filesystem::path& path, Scan& scan);

}  // namespace echolux
