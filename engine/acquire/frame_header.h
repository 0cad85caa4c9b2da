// The 32 bytes before each acquired B-scan, in the place that scan.frame_offset_bytes leaves. They carry a sequence
// number and a checksum, so that a recording can be checked by a script that shares no code (docs/simulator.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace echolux {

// CRC-32 as in zlib and PNG, of pieces one after the other: crc = crc32(piece, crc).
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t crc = 0);

// Little endian: 8 bytes "ECHOLUX1", u64 sequence, f64 seconds at the first line, u32 bytes of the frame, u32 CRC-32 of
// these 28 bytes and the frame.
std::array<std::byte, 32> frame_header(std::uint64_t sequence, double time_s, std::span<const std::byte> frame);

}  // namespace echolux
