// Converts RGB pictures to the colours of movie formats: YCbCr for video codecs, by Recommendation ITU-R BT.709 in
// limited range (black 16, white 235), which players assume for video; and 256 colours for GIF.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace echolux {

// Planes with chroma at half width and height. `chroma_step` is 1 for separate planes u and v, and 2 if they are
// interleaved.
struct YuvPlanes {
    std::uint8_t *y, *u, *v;
    std::ptrdiff_t y_stride, chroma_stride;  // bytes
    std::ptrdiff_t chroma_step = 1;
};

// Converts `rgba` of even width and height; ignores alpha. Chroma positions are those of MPEG-2 and H.264: on every
// other column, between two rows. Uses all threads.
void to_yuv420(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height, const YuvPlanes& planes);

// Converts for JPEG (JFIF): Recommendation ITU-R BT.601 in full range, chroma at the centre of four pixels.
void to_jpeg_yuv420(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height,
                    const YuvPlanes& planes);

// Planes with 10 bits per sample, full chroma, alpha from 0 to 1023. `a` may be null.
struct Yuva10Planes {
    std::byte *y, *u, *v, *a;
    std::ptrdiff_t stride;  // in bytes, for each plane
};

void to_yuva444(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height,
                const Yuva10Planes& planes);

struct Palette {
    std::array<std::uint32_t, 256> colours{};  // 0xAARRGGBB
};

// Reduces pictures to 256 colours. The palette of each picture is found by median cut (P. Heckbert, SIGGRAPH 1982),
// always splitting the box with the largest variance. Ordered dithering keeps the pattern fixed between pictures.
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
