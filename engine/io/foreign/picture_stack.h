// A folder of pictures (PNG, or TIFF with one page each) as one volume. The pictures are slices in natural order of
// their names. A folder that also contains volumes is a series of them instead.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/io/image_stream.h"

namespace echolux {

// Returns whether a folder contains pictures and no volumes. Reads only names and the first TIFF.
bool is_picture_stack(const std::filesystem::path& folder);

// Opens the volume. Throws Error{bad_file} if a picture is damaged or differs from the first in size or type.
std::unique_ptr<ImageReader> open_picture_stack(const std::filesystem::path& folder);

}  // namespace echolux
