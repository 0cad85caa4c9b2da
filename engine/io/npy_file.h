// NumPy's .npy (numpy.org/doc/stable/reference/generated/numpy.lib.format.html), versions 1 to 3, C and Fortran order.
// The array is [time][slice][row][column], without time where there is one volume. It has no room for anything else.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_format.h"

namespace echolux {

std::unique_ptr<ImageReader> open_npy(const std::filesystem::path& path);

std::unique_ptr<ImageWriter> create_npy(const std::filesystem::path& path, const ImageHeader& header,
                                        const ImageStorage& storage, const std::string& where);

}  // namespace echolux
