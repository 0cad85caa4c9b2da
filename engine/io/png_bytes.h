// A PNG in memory, soon made rather than small: for pictures that somebody waits for over a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace echolux {

// RGBA in, row by row from the top; RGB out: whatever the alpha was, every pixel is solid. `level`: 1 soon, 9 small.
// Throws Error{bad_setting, out_of_memory}.
std::vector<std::byte> solid_png(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height,
                                 int level = 1);

}  // namespace echolux
