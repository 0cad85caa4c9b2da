// MetaImage (itk.org/Wiki/ITK/MetaIO): raw or packed by zlib, header and voxels in one file (.mha) or in two (.mhd).
// Written in one file, raw; time is the fourth dimension; texts are further keys.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_format.h"

namespace echolux {

std::unique_ptr<ImageReader> open_meta(const std::filesystem::path& path);

std::unique_ptr<ImageWriter> create_meta(const std::filesystem::path& path, const ImageHeader& header,
                                         const ImageStorage& storage, const std::string& where);

}  // namespace echolux
