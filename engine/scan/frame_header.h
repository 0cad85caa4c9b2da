// The 32 bytes before each acquired B-scan, in the place that scan.frame_offset_bytes leaves. They carry a sequence
// number and a checksum, so that a recording can be checked by a script that shares no code (docs/simulator.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace echolux {

constexpr std::int64_t frame_header_bytes = 32;

// CRC-32 as in zlib and PNG, of pieces one after the other: crc = crc32(piece, crc).
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t crc = 0);

// The same of many bytes, on all threads.
std::uint32_t crc32_of_many(std::span<const std::byte> bytes);

// Little endian: 8 bytes "ECHOLUX1", u64 sequence, f64 seconds at the first line, u32 bytes of the frame, u32 CRC-32 of
// these 28 bytes and the frame.
std::array<std::byte, frame_header_bytes> frame_header(std::uint64_t sequence, double time_s,
                                                       std::span<const std::byte> frame);

// Headers for frames of one size that are sent over and over: their own checksums are computed once.
class FrameStamp {
  public:
    explicit FrameStamp(std::uint32_t frame_bytes);

    // `frame_crc`: crc32 of the frame alone.
    std::array<std::byte, frame_header_bytes> header(std::uint64_t sequence, double time_s,
                                                     std::uint32_t frame_crc) const;

  private:
    std::uint32_t frame_bytes_;
    std::uint32_t joining_;  // zlib's operator for appending so many bytes
};

}  // namespace echolux
