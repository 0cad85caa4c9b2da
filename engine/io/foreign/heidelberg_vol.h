// Heidelberg Spectralis .vol files (HSF-OCT-1xx). They contain a 2048-byte header, an image of the fundus, and B-scans.
// Each B-scan is a header and f32 reflectivities, row by row with A-scans fastest, with FLT_MAX for missing values.
// Voxels stay linear as stored; missing values become NaN. The fundus image and segmentations are ignored. The layout
// follows Heidelberg's description of the export and existing readers (heyex, eyepy).
#pragma once

#include <filesystem>
#include <memory>

#include "engine/io/image_stream.h"

namespace echolux {

// Opens the file. Throws Error{bad_file, out_of_memory}.
std::unique_ptr<ImageReader> open_heidelberg_vol(const std::filesystem::path& path);

}  // namespace echolux
