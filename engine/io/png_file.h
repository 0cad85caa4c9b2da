// PNG pictures in and out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace echolux {

struct Picture {
    std::int64_t width = 0;
    std::int64_t height = 0;
    int channels = 4;                         // 1 gray, 3 RGB, 4 RGBA (straight alpha)
    std::vector<std::uint8_t> pixels;         // row by row from the top, width * height * channels
    std::map<std::string, std::string> text;  // tEXt/iTXt chunks
};

// Atomic: written under a temporary name, then renamed. Throws Error{output}.
void write_png(const std::filesystem::path& path, const Picture& picture);

// 8 bits a channel. Throws Error{bad_file}.
Picture read_png(const std::filesystem::path& path);

}  // namespace echolux
