// The reader of TIFF files itself. What is packed by a codec that was not written for hostile files is read by it in a
// reader process, everything else here: open_tiff() of tiff_file.h decides.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/io/image_stream.h"

namespace echolux {

// Of an open file; `path` is for messages.
std::unique_ptr<ImageReader> read_tiff(int descriptor, const std::filesystem::path& path);

}  // namespace echolux
