// PNG pictures in and out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/io/picture_file.h"

namespace echolux {

struct Picture {
    std::int64_t width = 0;
    std::int64_t height = 0;
    int channels = 4;                         // 1 gray, 3 RGB, 4 RGBA (straight alpha)
    std::vector<std::uint8_t> pixels;         // row by row from the top, width * height * channels
    std::map<std::string, std::string> text;  // tEXt/iTXt chunks
};

// See picture_file.h.
std::unique_ptr<PictureWriter> create_png(const std::filesystem::path& path, const PictureShape& shape,
                                          const PictureTexts& texts);

// Of a picture in memory. Throws as create_picture(), and Error{bad_setting} for pixels that do not fit its shape.
void write_png(const std::filesystem::path& path, const Picture& picture);

// 8 bits a channel. Throws Error{bad_file}.
Picture read_png(const std::filesystem::path& path);

}  // namespace echolux
