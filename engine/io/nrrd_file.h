// NRRD (teem.sourceforge.net/nrrd/format.html): raw or packed by gzip, header and voxels in one file or in two. Written
// with the voxels in the same file; time is the last axis; texts are key/value pairs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_format.h"

namespace echolux {

std::unique_ptr<ImageReader> open_nrrd(const std::filesystem::path& path);

std::unique_ptr<ImageWriter> create_nrrd(const std::filesystem::path& path, const ImageHeader& header,
                                         const ImageStorage& storage, const std::string& where);

}  // namespace echolux
