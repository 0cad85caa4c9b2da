// Heidelberg Spectralis .vol files (HSF-OCT-1xx): 2048-byte header, an image of the fundus, then B-scans, each a header
// and f32 reflectivities, a line of A-scans after the other, FLT_MAX where nothing was measured. Voxels stay as they
// are stored, linear; what was not measured becomes NaN. The fundus image and segmentations are left out.
// Layout as in Heidelberg's description of the export and the readers that follow it (heyex, eyepy).
#pragma once

#include <filesystem>
#include <memory>

#include "engine/io/image_stream.h"

namespace echolux {

// Throws Error{bad_file, out_of_memory}.
std::unique_ptr<ImageReader> open_heidelberg_vol(const std::filesystem::path& path);

}  // namespace echolux
