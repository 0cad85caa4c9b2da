// TIFF with one page per slice. Reads the descriptions of OME-TIFF, ImageJ and tifffile. Writes OME-TIFF with one raw
// or deflated strip per page, as BigTIFF if 4 GiB are not enough, and the description in the first page.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_format.h"

namespace echolux {

// Limited because libtiff searches directories linearly, which takes seconds for this many.
constexpr std::int64_t max_tiff_pages = 100'000;

// See ImageFormat::open.
std::unique_ptr<ImageReader> open_tiff(const std::filesystem::path& path);

// See ImageFormat::create.
std::unique_ptr<ImageWriter> create_tiff(const std::filesystem::path& path, const ImageHeader& header,
                                         const ImageStorage& storage, const std::string& where);

}  // namespace echolux
