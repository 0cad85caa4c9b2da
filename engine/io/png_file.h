// Reading and writing of PNG pictures.
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
    int channels = 4;                         // 1: gray, 3: RGB, 4: RGBA (straight alpha)
    std::vector<std::uint8_t> pixels;         // row by row from the top, width * height * channels
    std::map<std::string, std::string> text;  // tEXt/iTXt chunks
};

// See create_picture().
std::unique_ptr<PictureWriter> create_png(const std::filesystem::path& path, const PictureShape& shape,
                                          const PictureTexts& texts);

// Writes a picture from memory. Throws as create_picture(), and Error{bad_setting} if the pixels do not match its
// shape.
void write_png(const std::filesystem::path& path, const Picture& picture);

// Reads a picture and converts it to 8 bits per channel. Throws Error{bad_file}.
Picture read_png(const std::filesystem::path& path);

}  // namespace echolux
