// A PNG in memory, soon made rather than small: for pictures that somebody waits for over a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace echolux {

enum class Alpha { dropped, kept };  // dropped: RGB, every pixel is solid

// RGBA in, row by row from the top. `level`: 1 soon, 9 small. Throws Error{bad_setting, out_of_memory}.
std::vector<std::byte> png_bytes(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height,
                                 Alpha alpha, int level = 1);

}  // namespace echolux
