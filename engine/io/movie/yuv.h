// RGB pictures as video codecs take them: luma and colour differences of Recommendation ITU-R BT.709 in limited range
// (black is 16 of 255, white 235), which every player assumes of a movie that is tagged so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace echolux {

// Colour at half the width and height. `chroma_step`: 1 where u and v are planes of their own, 2 where they alternate.
struct YuvPlanes {
    std::uint8_t *y, *u, *v;
    std::ptrdiff_t y_stride, chroma_stride;  // bytes
    std::ptrdiff_t chroma_step = 1;
};

// `rgba` of an even width and height; its alpha is left out. Colours lie as MPEG-2 and H.264 have them: on every other
// column, between two rows.
void to_yuv420(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height, const YuvPlanes& planes);

// The same as JPEG has it (JFIF): Recommendation ITU-R BT.601 in full range, colours between four pixels.
void to_jpeg_yuv420(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height,
                    const YuvPlanes& planes);

// 10 bits a sample, colour in full, alpha from 0 to 1023; `a` may be missing.
struct Yuva10Planes {
    std::byte *y, *u, *v, *a;
    std::ptrdiff_t stride;  // bytes, of each
};

void to_yuva444(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height,
                const Yuva10Planes& planes);

}  // namespace echolux
