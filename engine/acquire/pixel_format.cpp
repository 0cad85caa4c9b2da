#include "engine/acquire/pixel_format.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace echolux {
namespace {

unsigned at(const std::byte* bytes, std::int64_t i) {
    return static_cast<unsigned>(bytes[i]);
}

// Mono12Packed: the outer bytes hold the upper eight bits of two pixels, the middle byte their lower four bits.
std::uint16_t gev_packed12(const std::byte* image, std::int64_t index) {
    const std::byte* pair = image + index / 2 * 3;
    const bool odd = index % 2 == 1;
    return static_cast<std::uint16_t>(at(pair, odd ? 2 : 0) << 4 | (at(pair, 1) >> (odd ? 4 : 0) & 15));
}

// Mono10Packed: like Mono12Packed, with two lower bits.
std::uint16_t gev_packed10(const std::byte* image, std::int64_t index) {
    const std::byte* pair = image + index / 2 * 3;
    const bool odd = index % 2 == 1;
    return static_cast<std::uint16_t>(at(pair, odd ? 2 : 0) << 2 | (at(pair, 1) >> (odd ? 4 : 0) & 3));
}

// Mono10p: pixels are packed bit by bit, lowest bit first.
std::uint16_t packed10(const std::byte* image, std::int64_t index) {
    const std::byte* first = image + index * 10 / 8;
    const auto both = at(first, 0) | at(first, 1) << 8;
    return static_cast<std::uint16_t>(both >> (index % 4 * 2) & 1023);
}

constexpr std::array formats{
    PixelFormat{"Mono12p", 12, SampleFormat::packed12, 0, nullptr},
    PixelFormat{"Mono12", 16, SampleFormat::u16, 12, nullptr},
    PixelFormat{"Mono14", 16, SampleFormat::u16, 14, nullptr},
    PixelFormat{"Mono16", 16, SampleFormat::u16, 0, nullptr},
    PixelFormat{"Mono12Packed", 12, SampleFormat::u16, 12, gev_packed12},
    PixelFormat{"Mono10", 16, SampleFormat::u16, 10, nullptr},
    PixelFormat{"Mono10p", 10, SampleFormat::u16, 10, packed10},
    PixelFormat{"Mono10Packed", 12, SampleFormat::u16, 10, gev_packed10},
    PixelFormat{"Mono8", 8, SampleFormat::u8, 0, nullptr},
};

}  // namespace

void PixelFormat::describe_to(RawFormat& format) const {
    format.sample_format = stored;
    format.bits = bits;
    format.byte_order = ByteOrder::little;
    format.shift = 0;
    format.line_bytes = 0;
}

void PixelFormat::unpack(const std::byte* image, std::span<std::byte> samples) const {
    const auto pixels = static_cast<std::int64_t>(samples.size() / sizeof(std::uint16_t));
    for (std::int64_t i = 0; i < pixels; ++i) {
        const std::uint16_t value = pixel(image, i);
        std::memcpy(&samples[static_cast<std::size_t>(i) * sizeof value], &value, sizeof value);
    }
}

std::span<const PixelFormat> pixel_formats() {
    return formats;
}

const PixelFormat* find_pixel_format(std::string_view name) {
    const auto* found = std::ranges::find(formats, name, &PixelFormat::name);
    return found == formats.end() ? nullptr : found;
}

std::string pixel_format_names() {
    std::string names;
    for (const PixelFormat& format : formats) names += (names.empty() ? "" : ", ") + std::string(format.name);
    return names;
}

}  // namespace echolux
