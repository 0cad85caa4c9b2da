// MetaImage (itk.org/Wiki/ITK/MetaIO). Reads raw or zlib-compressed voxels in one file (.mha) or in a header and a data
// file (.mhd). Writes one raw file, with time as the fourth dimension and texts as additional keys.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_format.h"

namespace echolux {

// See ImageFormat::open.
std::unique_ptr<ImageReader> open_meta(const std::filesystem::path& path);

// See ImageFormat::create.
std::unique_ptr<ImageWriter> create_meta(const std::filesystem::path& path, const ImageHeader& header,
                                         const ImageStorage& storage, const std::string& where);

}  // namespace echolux
