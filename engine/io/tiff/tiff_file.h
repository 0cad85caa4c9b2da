// TIFF with a page a slice, read through libtiff and described as OME-TIFF, ImageJ or tifffile do; written as OME-TIFF:
// one strip a page, raw or deflated, BigTIFF where 4 GiB are not enough, the description in the first page.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_format.h"

namespace echolux {

constexpr std::int64_t max_tiff_pages = 100'000;  // libtiff looks for each among all before it: seconds

std::unique_ptr<ImageReader> open_tiff(const std::filesystem::path& path);

std::unique_ptr<ImageWriter> create_tiff(const std::filesystem::path& path, const ImageHeader& header,
                                         const ImageStorage& storage, const std::string& where);

}  // namespace echolux
