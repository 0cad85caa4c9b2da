// Pictures as they leave the renderer: pixels in memory, or on the device and perhaps not finished yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace echolux {

namespace gpu {
class DeviceImage;
}

// How many pictures the graphics device is given at a time. A live ring has two slots more: one is written, one is the
// newest.
inline constexpr std::size_t pictures_under_way = 2;

// How much of a volume in pages a picture shows in full: pages that hold something to be seen, and those of them that
// are shown from the coarse level only.
struct PagesShown {
    std::int64_t needed = 0;
    std::int64_t coarse = 0;
};

struct Image {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::vector<std::uint8_t> pixels;  // RGBA, straight alpha, row by row from the top
    PagesShown pages = {};             // of a volume that the device holds in part
};

enum class PictureBits { eight = 8, sixteen = 16 };  // of a channel

// Whole rows of a picture that comes piece by piece, from the top: RGBA with straight alpha, of the machine's byte
// order.
struct PictureRows {
    std::int64_t count = 0;
    std::span<const std::byte> pixels;  // valid during the call that hands them over
    std::int64_t worth = count;         // rows that the work since the last call is worth: as many as come, in all
};

// A picture on the device: submitted, perhaps not finished.
struct Drawing {
    const gpu::DeviceImage* image = nullptr;
    std::uint64_t value = 0;
};

// A picture as a window shows it, and how good it is.
struct FollowedPicture {
    Drawing drawing;
    double pitch = 0;         // pixels from ray to ray
    std::int64_t passes = 0;  // rays a pixel
    bool is_final = false;    // nothing is drawn any more until something changes
};

}  // namespace echolux
