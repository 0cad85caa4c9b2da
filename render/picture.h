// Pictures as results of the renderer: pixels in memory, or on the device and possibly unfinished.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace echolux {

namespace gpu {
class DeviceImage;
}

// Max number of pictures in flight. A live ring has two more slots: one being written, and the newest.
inline constexpr std::size_t pictures_under_way = 2;

// Completeness of a picture of a paged volume: pages with visible values, and those of them shown from the coarse
// level.
struct PagesShown {
    std::int64_t needed = 0;
    std::int64_t coarse = 0;
};

struct Image {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::vector<std::uint8_t> pixels;  // RGBA, straight alpha, row by row from the top
    PagesShown pages = {};             // for paged volumes
};

enum class PictureBits { eight = 8, sixteen = 16 };  // per channel

// Whole rows of a picture that is delivered in pieces, from the top: RGBA with straight alpha, native byte order.
struct PictureRows {
    std::int64_t count = 0;
    std::span<const std::byte> pixels;  // valid during the callback only
    std::int64_t worth = count;         // progress since the last call, in rows; adds up to the number of rows
};

// A picture on the device, submitted and possibly unfinished.
struct Drawing {
    const gpu::DeviceImage* image = nullptr;
    // Queue value of its completion.
    std::uint64_t value = 0;
};

// A picture in a window, with its quality.
struct FollowedPicture {
    Drawing drawing;
    double pitch = 0;         // in pixels, between rays
    std::int64_t passes = 0;  // rays per pixel
    bool is_final = false;    // no more work until something changes
};

}  // namespace echolux
