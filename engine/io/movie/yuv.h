// Converts RGB pictures to YCbCr for video codecs: Recommendation ITU-R BT.709 in limited range (black 16, white 235),
// which players assume for video.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

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

}  // namespace echolux
