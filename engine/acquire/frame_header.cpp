#include "engine/acquire/frame_header.h"

#include <bit>
#include <cstring>

namespace echolux {
namespace {

static_assert(std::endian::native == std::endian::little, "headers are copied as they lie in memory");

// tables[n][b]: the checksum of byte b followed by n zero bytes.
std::array<std::array<std::uint32_t, 256>, 8> crc_tables() {
    std::array<std::array<std::uint32_t, 256>, 8> tables{};
    for (std::uint32_t b = 0; b < 256; ++b) {
        std::uint32_t crc = b;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320U : 0);
        tables[0][b] = crc;
    }
    for (std::size_t n = 1; n < tables.size(); ++n) {
        for (std::size_t b = 0; b < 256; ++b) {
            tables[n][b] = (tables[n - 1][b] >> 8) ^ tables[0][tables[n - 1][b] & 0xff];
        }
    }
    return tables;
}

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t crc) {
    static const auto tables = crc_tables();
    crc = ~crc;
    std::size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) {  // eight bytes a step
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i, sizeof(word));
        word ^= crc;
        crc = 0;
        for (std::size_t n = 0; n < 8; ++n) crc ^= tables[7 - n][(word >> (8 * n)) & 0xff];
    }
    for (; i < bytes.size(); ++i) {
        crc = (crc >> 8) ^ tables[0][(crc ^ std::to_integer<std::uint32_t>(bytes[i])) & 0xff];
    }
    return ~crc;
}

std::array<std::byte, 32> frame_header(std::uint64_t sequence, double time_s, std::span<const std::byte> frame) {
    std::array<std::byte, 32> header{};
    const auto frame_bytes = static_cast<std::uint32_t>(frame.size());
    std::memcpy(header.data(), "ECHOLUX1", 8);
    std::memcpy(header.data() + 8, &sequence, 8);
    std::memcpy(header.data() + 16, &time_s, 8);
    std::memcpy(header.data() + 24, &frame_bytes, 4);
    const std::uint32_t crc = crc32(frame, crc32(std::span(header).first(28)));
    std::memcpy(header.data() + 28, &crc, 4);
    return header;
}

}  // namespace echolux
