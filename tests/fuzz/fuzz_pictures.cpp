// Metadata of pictures. Checksums of PNG chunks are corrected first, because otherwise no mutation would pass them.
#include <zlib.h>

#include <vector>

#include "engine/io/picture_file.h"
#include "fuzz_target.h"

namespace echolux::fuzz {
namespace {

std::uint32_t big_endian(const std::byte* bytes) {
    std::uint32_t number = 0;
    for (int i = 0; i < 4; ++i) number = number << 8 | std::to_integer<std::uint32_t>(bytes[i]);
    return number;
}

std::vector<std::byte> with_right_checksums(Bytes bytes) {
    constexpr std::size_t signature = 8, head = 8, checksum = 4;
    std::vector<std::byte> png(bytes.begin(), bytes.end());
    for (std::size_t at = signature; at + head + checksum <= png.size();) {
        const std::size_t length = big_endian(png.data() + at);
        if (length > png.size() - at - head - checksum) break;
        const auto* named = reinterpret_cast<const Bytef*>(png.data() + at + 4);
        const auto sum = static_cast<std::uint32_t>(crc32(0, named, static_cast<uInt>(4 + length)));
        at += head + length;
        for (int i = 0; i < 4; ++i, ++at) png[at] = static_cast<std::byte>(sum >> (24 - 8 * i));
    }
    return png;
}

void read_png_texts(Bytes bytes) {
    picture_texts(file_with("x.png", with_right_checksums(bytes)));
}

void read_tiff_texts(Bytes bytes) {
    picture_texts(file_with("x.tif", bytes));
}

const Registration registrations[] = {
    {"png_texts", read_png_texts},
    {"tiff_texts", read_tiff_texts},
};

}  // namespace
}  // namespace echolux::fuzz
