// The picture that the instrument stored in a Thorlabs .oct archive (ThorImage; data/Intensity.data, f32 in dB), read
// as one volume. The layout follows Thorlabs' MATLAB reader.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/io/image_stream.h"

namespace echolux {

// Opens the picture. Throws Error{bad_file}; for archives with only spectra, the message explains how to reconstruct
// them.
std::unique_ptr<ImageReader> open_thorlabs(const std::filesystem::path& path);

}  // namespace echolux
