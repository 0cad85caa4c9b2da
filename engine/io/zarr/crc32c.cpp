#include "engine/io/zarr/crc32c.h"

#include <array>

namespace echolux::zarr {
namespace {

constexpr std::array<std::uint32_t, 256> remainders() {
    constexpr std::uint32_t reversed_polynomial = 0x82f63b78;
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? reversed_polynomial : 0);
        table[byte] = rest;
    }
    return table;
}

constexpr std::array<std::uint32_t, 256> table = remainders();

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
    std::uint32_t crc = 0xffffffff;
    for (const std::byte byte : bytes) crc = crc >> 8 ^ table[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
    return ~crc;
}

}  // namespace echolux::zarr
