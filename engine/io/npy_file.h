// NumPy's .npy (numpy.org/doc/stable/reference/generated/numpy.lib.format.html), versions 1 to 3, C and Fortran order.
// The array is [time][slice][row][column]; a single volume has no time axis. The format holds no spacing, unit or
// texts.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_format.h"

namespace echolux {

// See ImageFormat::open.
std::unique_ptr<ImageReader> open_npy(const std::filesystem::path& path);

// See ImageFormat::create.
std::unique_ptr<ImageWriter> create_npy(const std::filesystem::path& path, const ImageHeader& header,
                                        const ImageStorage& storage, const std::string& where);

}  // namespace echolux
