// Reduces pictures to 256 colours for GIF. The palette of each picture is found by median cut (P. Heckbert, SIGGRAPH
// 1982), always splitting the box with the largest variance. Ordered dithering keeps the pattern fixed between
// pictures.
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

// Reuses its buffers between pictures. Use it from one thread at a time.
class Palettes {
  public:
    // Returns the palette of `rgba` (`width` pixels per row) and writes the index of each pixel to `codes`, whose rows
    // are `stride` bytes apart. With `has_alpha`, the last colour is transparent; pixels with alpha below 128 get it.
    Palette quantise(std::span<const std::uint8_t> rgba, std::int64_t width, bool has_alpha, std::uint8_t* codes,
                     std::ptrdiff_t stride);

  private:
    // Histogram bin of similar colours.
    struct Bin {
        std::uint32_t count = 0;
        std::array<std::uint32_t, 3> sum{};
    };

    void count(std::span<const std::uint8_t> rgba, bool has_alpha);
    std::uint8_t nearest(const Palette& palette, std::size_t colours, std::uint32_t bin);

    std::vector<Bin> bins_;
    std::vector<std::int16_t> nearest_;  // palette index per bin; -1: not determined
};

}  // namespace echolux
