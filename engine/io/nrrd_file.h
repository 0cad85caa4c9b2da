// NRRD (teem.sourceforge.net/nrrd/format.html). Reads raw or gzip-compressed voxels after the header or in a separate
// file. Writes a single file, with time as the last axis and texts as key/value pairs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_format.h"

namespace echolux {

// See ImageFormat::open.
std::unique_ptr<ImageReader> open_nrrd(const std::filesystem::path& path);

// See ImageFormat::create.
std::unique_ptr<ImageWriter> create_nrrd(const std::filesystem::path& path, const ImageHeader& header,
                                         const ImageStorage& storage, const std::string& where);

}  // namespace echolux
