// The 32-byte header before each acquired B-scan, in the space reserved by scan.frame_offset_bytes. Its sequence number
// and checksum allow independent scripts to verify a recording (docs/simulator.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace echolux {

constexpr std::int64_t frame_header_bytes = 32;

// Computes a CRC-32 as in zlib and PNG. To continue over several pieces: crc = crc32(piece, crc).
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t crc = 0);

// Computes the same checksum for many bytes on all threads.
std::uint32_t crc32_of_many(std::span<const std::byte> bytes);

// Returns the header in little-endian order: 8 bytes "ECHOLUX1", u64 sequence, f64 time of the first line in seconds,
// u32 size of the frame in bytes, u32 CRC-32 of these 28 bytes and the frame.
std::array<std::byte, frame_header_bytes> frame_header(std::uint64_t sequence, double time_s,
                                                       std::span<const std::byte> frame);

// Builds headers for repeated frames of one size. The checksum of each frame is computed only once, by the caller.
class FrameStamp {
  public:
    explicit FrameStamp(std::uint32_t frame_bytes);

    // `frame_crc` is the crc32() of the frame alone.
    std::array<std::byte, frame_header_bytes> header(std::uint64_t sequence, double time_s,
                                                     std::uint32_t frame_crc) const;

  private:
    std::uint32_t frame_bytes_;
    std::uint32_t joining_;  // zlib's operator that appends frame_bytes_ bytes
};

}  // namespace echolux
