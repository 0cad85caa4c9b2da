// A folder of pictures (PNG, or TIFF with one page each) as one volume: the pictures are its slices, in the natural
// order of their names. A folder with other volumes in it is a series of them instead.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/io/image_stream.h"

namespace echolux {

// Whether a folder holds pictures and no volumes. Repeats at names, and at the first TIFF.
bool is_picture_stack(const std::filesystem::path& folder);

// Throws Error{bad_file}: a picture differs from the first in size or type, or is damaged.
std::unique_ptr<ImageReader> open_picture_stack(const std::filesystem::path& folder);

}  // namespace echolux
