// PNG pictures as slices. Gray pictures keep 8 or 16 bits; colours are converted to brightness, alpha is ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace echolux {

struct GrayPicture {
    std::int64_t width = 0, height = 0;
    std::int64_t pixel_bytes = 1;   // 1 or 2, in this machine's byte order
    std::vector<std::byte> pixels;  // row by row from the top; empty if only the sizes were read
};

// Read the sizes, or the whole picture. Throw Error{bad_file}.
GrayPicture gray_png_sizes(const std::filesystem::path& path);
GrayPicture read_gray_png(const std::filesystem::path& path);

}  // namespace echolux
