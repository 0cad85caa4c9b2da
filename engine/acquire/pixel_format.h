// Monochrome pixel formats of GenICam cameras (EMVA, GenICam Pixel Format Naming Convention 2.4), and their storage in
// blocks. Most are stored as sent. Formats without a GPU kernel are unpacked on arrival: the two packed 10-bit formats
// and GigE Vision's own 12-bit packing. Cameras with such a format also offer one that needs no unpacking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "compute/plan/params.h"

namespace echolux {

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
