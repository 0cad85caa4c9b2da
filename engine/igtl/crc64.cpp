#include "engine/igtl/crc64.h"

#include <array>

#include "engine/igtl/big_endian.h"

namespace echolux::igtl {
namespace {

using Table = std::array<std::array<std::uint64_t, 256>, 8>;

// Table k is for a byte followed by k others, so that eight bytes are processed per step. Byte by byte, the checksum of
// a volume would take longer than sending it.
constexpr Table tables = [] {
    constexpr std::uint64_t polynomial = 0x42F0E1EBA9EA3693;
    Table made{};
    for (std::uint64_t byte = 0; byte < 256; ++byte) {
        std::uint64_t crc = byte << 56;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 63) != 0 ? crc << 1 ^ polynomial : crc << 1;
        made[0][byte] = crc;
    }
    for (std::size_t k = 1; k < 8; ++k) {
        for (std::size_t byte = 0; byte < 256; ++byte)
            made[k][byte] = made[k - 1][byte] << 8 ^ made[0][made[k - 1][byte] >> 56];
    }
    return made;
}();

}  // namespace

std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t crc) {
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
        const std::uint64_t mixed = crc ^ number_at<std::uint64_t>(bytes, 0);
        crc = 0;
        for (std::size_t k = 0; k < 8; ++k) crc ^= tables[k][mixed >> 8 * k & 0xFF];
    }
    for (const std::byte byte : bytes) crc = crc << 8 ^ tables[0][crc >> 56 ^ static_cast<std::uint64_t>(byte)];
    return crc;
}

}  // namespace echolux::igtl
