// The monochrome pixel formats of GenICam cameras (EMVA, GenICam Pixel Format Naming Convention 2.4), and how their
// images are stored in a block. Most are stored as they are sent. Those that no GPU kernel reads, the two packed 10-bit
// formats and GigE Vision's own packing of 12 bits, are unpacked on arrival; a camera that has one of them has another
// one that needs no unpacking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "compute/plan/params.h"

namespace echolux {

struct PixelFormat {
    std::string_view name;       // as the camera's PixelFormat feature spells it
    std::int64_t sent_bits = 0;  // a pixel, on the wire
    SampleFormat stored = SampleFormat::u8;
    std::int64_t bits = 0;  // significant ones, as RawFormat::bits
    std::uint16_t (*pixel)(const std::byte* image, std::int64_t index) = nullptr;  // of formats to unpack

    bool is_stored_as_sent() const { return pixel == nullptr; }
    void describe_to(RawFormat& format) const;  // channels stay as they are

    // From an image as it was sent to u16. Images that are stored as sent have no such function.
    void unpack(const std::byte* image, std::span<std::byte> samples) const;
};

// In the order of preference: much depth for few bytes, and nothing to unpack.
std::span<const PixelFormat> pixel_formats();

// nullptr: a format that cannot hold spectra, such as colour.
const PixelFormat* find_pixel_format(std::string_view name);

std::string pixel_format_names();  // "Mono12p, Mono12, ..."

}  // namespace echolux
