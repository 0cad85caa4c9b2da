// Reads TIFF files. Codecs that are not hardened against hostile files run in a reader process, all others in this
// process; open_tiff() (tiff_file.h) decides.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/io/image_stream.h"

namespace echolux {

// Reads an open file and closes the descriptor. `path` is for messages.
std::unique_ptr<ImageReader> read_tiff(int descriptor, const std::filesystem::path& path);

}  // namespace echolux
