// CRC-64 of ECMA-182, not reflected and from zero: the checksum of every body of OpenIGTLink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace echolux::igtl {

// `crc`: of what came before.
std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t crc = 0);

}  // namespace echolux::igtl
