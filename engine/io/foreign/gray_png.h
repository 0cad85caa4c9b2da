// PNG pictures as slices: gray of 8 or 16 bits as they are stored; colours become their brightness, alpha is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace echolux {

struct GrayPicture {
    std::int64_t width = 0, height = 0;
    std::int64_t pixel_bytes = 1;   // 1 or 2, of this machine's byte order
    std::vector<std::byte> pixels;  // row by row from the top; empty: only the sizes were asked for
};

// Throws Error{bad_file}.
GrayPicture gray_png_sizes(const std::filesystem::path& path);
GrayPicture read_gray_png(const std::filesystem::path& path);

}  // namespace echolux
