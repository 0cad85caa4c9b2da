// The instrument's own picture in Thorlabs .oct archives (ThorImage; data/Intensity.data, f32 in dB) as a volume.
// Layout as Thorlabs' own MATLAB reader takes it.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/io/image_stream.h"

namespace echolux {

// Throws Error{bad_file}; where there are only spectra, it says how to reconstruct them.
std::unique_ptr<ImageReader> open_thorlabs(const std::filesystem::path& path);

}  // namespace echolux
