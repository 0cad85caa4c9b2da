// Images of GenICam line cameras: their pixel formats, and the mapping of a scan's lines to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "compute/plan/params.h"

namespace echolux {

// ---- Mapping from the lines of a scan to images of a line camera. Ideally, an image holds whole B-scan positions and
// its memory is that of a block. If images cannot be that tall, several images form a block.

// Possible image heights of a camera: low, low + step ... high.
struct ImageHeights {
    std::int64_t low = 1;
    std::int64_t high = 1;
    std::int64_t step = 1;

    bool allow(std::int64_t lines) const { return lines >= low && lines <= high && (lines - low) % step == 0; }
};

// Division of a volume into blocks and images.
struct ImagePlan {
    std::int64_t lines = 0;             // per image
    std::int64_t block_b_scans = 0;     // B-scan positions per block
    std::int64_t images_per_block = 1;  // 1: images are blocks
    std::int64_t blocks_per_volume = 0;
    std::int64_t images_per_volume = 0;  // including flyback
};

// Divides volumes evenly into blocks of `wanted_b_scans` positions, or of the next smaller number that fits. Uses a
// larger number if only that avoids copying. Throws Error{bad_setting} naming `camera` if no image height fits the
// scan.
ImagePlan plan_images(const ScanGeometry& geometry, std::int64_t wanted_b_scans, const ImageHeights& heights,
                      const std::string& camera);

// Position of an image, from its number since the start.
struct ImagePosition {
    std::int64_t volume = 0;
    std::int64_t block = 0;  // of the volume; from blocks_per_volume: flyback
    std::int64_t image = 0;  // of the block
};
ImagePosition place_of(std::int64_t image, const ImagePlan& plan);

// Extends frame ids of 16 bits (which wrap from 65535 to 1) or 64 bits to continuous numbers.
class FrameNumbers {
  public:
    // Returns the number of the image with this id, starting with 0. An old id returns an old number.
    std::int64_t number(std::uint64_t id);

  private:
    bool has_begun_ = false;
    std::uint64_t last_id_ = 0;
    std::int64_t last_ = 0;
};

// ---- Monochrome pixel formats of GenICam cameras (EMVA, GenICam Pixel Format Naming Convention 2.4), and their
// storage in blocks. Most are stored as sent. Formats without a GPU kernel are unpacked on arrival: the two packed
// 10-bit formats and GigE Vision's own 12-bit packing. Cameras with such a format also offer one that needs no
// unpacking.

struct PixelFormat {
    std::string_view name;       // spelled as in the camera's PixelFormat feature
    std::int64_t sent_bits = 0;  // per pixel, as sent
    SampleFormat stored = SampleFormat::u8;
    std::int64_t bits = 0;  // significant bits, as RawFormat::bits
    std::uint16_t (*pixel)(const std::byte* image, std::int64_t index) = nullptr;  // for formats that must be unpacked

    bool is_stored_as_sent() const { return pixel == nullptr; }
    void describe_to(RawFormat& format) const;  // does not change the channels

    // Unpacks an image, as sent, to u16. Not available for formats that are stored as sent.
    void unpack(const std::byte* image, std::span<std::byte> samples) const;
};

// Returns the formats in order of preference: high depth in few bytes, without unpacking.
std::span<const PixelFormat> pixel_formats();

// Returns null for formats that cannot hold spectra, such as colour.
const PixelFormat* find_pixel_format(std::string_view name);

std::string pixel_format_names();  // "Mono12p, Mono12, ..."

}  // namespace echolux
