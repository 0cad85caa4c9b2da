// A picture in 256 colours of its own, for GIF: median cut (P. Heckbert, SIGGRAPH 1982), always of the box whose
// colours vary most, and ordered dithering, whose pattern stays in place from picture to picture.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace echolux {

struct Palette {
    std::array<std::uint32_t, 256> colours{};  // 0xAARRGGBB
};

class Palettes {
  public:
    // Of `rgba`, `width` pixels a row: the colours, and at `codes` the number of each pixel's, rows `stride` bytes
    // apart. Where `has_alpha`, pixels that are more transparent than not have the last colour, which is nothing.
    Palette quantise(std::span<const std::uint8_t> rgba, std::int64_t width, bool has_alpha, std::uint8_t* codes,
                     std::ptrdiff_t stride);

  private:
    // Pixels of nearly the same colour.
    struct Bin {
        std::uint32_t count = 0;
        std::array<std::uint32_t, 3> sum{};
    };

    void count(std::span<const std::uint8_t> rgba, bool has_alpha);
    std::uint8_t nearest(const Palette& palette, std::size_t colours, std::uint32_t bin);

    std::vector<Bin> bins_;
    std::vector<std::int16_t> nearest_;  // of each bin; -1: not looked for yet
};

}  // namespace echolux
