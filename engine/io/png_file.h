// PNG pictures: reading, writing, and fast encoding in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
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

// Returns the texts of tEXt and uncompressed iTXt chunks of up to 16 MiB, without decoding pixels. Throws
// Error{bad_file} naming the file if it is missing, is not a PNG file or is too short, or if a text is damaged.
PictureTexts png_texts(const std::filesystem::path& path);

enum class Alpha { dropped, kept };  // dropped: writes RGB

// Encodes a picture in memory, for a network client that is waiting for it. Speed is preferred over size. `rgba` is row
// by row from the top. `level` is zlib's: 1 is fast, 9 is small. Uses all threads. Throws Error{bad_setting,
// out_of_memory}.
std::vector<std::byte> png_bytes(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height,
                                 Alpha alpha, int level = 1);

// A picture as a slice of a volume. Gray pictures keep 8 or 16 bits; colours are converted to brightness, alpha is
// ignored.
struct GrayPicture {
    std::int64_t width = 0, height = 0;
    std::int64_t pixel_bytes = 1;   // 1 or 2, in this machine's byte order
    std::vector<std::byte> pixels;  // row by row from the top; empty if only the sizes were read
};

// Read the sizes, or the whole picture. Throw Error{bad_file}.
GrayPicture gray_png_sizes(const std::filesystem::path& path);
GrayPicture read_gray_png(const std::filesystem::path& path);

}  // namespace echolux
