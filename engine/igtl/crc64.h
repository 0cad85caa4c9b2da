// CRC-64 of ECMA-182, not reflected, with initial value 0: the checksum of message bodies in OpenIGTLink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace echolux::igtl {

// Returns the checksum. `crc` is that of the preceding bytes.
std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t crc = 0);

}  // namespace echolux::igtl
