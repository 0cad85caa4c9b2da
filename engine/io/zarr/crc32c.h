// CRC-32C (Castagnoli), the check sum of Zarr 3's codec crc32c (RFC 3720, appendix B.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace echolux::zarr {

std::uint32_t crc32c(std::span<const std::byte> bytes);

}  // namespace echolux::zarr
