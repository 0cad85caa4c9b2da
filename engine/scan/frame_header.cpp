#include "engine/scan/frame_header.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "compute/parallel_for.h"

namespace echolux {
namespace {

static_assert(std::endian::native == std::endian::little, "headers are copied as they lie in memory");

constexpr std::size_t checked_bytes = 28;  // all of the header except the checksum

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t crc) {
    return static_cast<std::uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Smaller pieces than this are not worth a thread.
std::uint32_t crc32_of_many(std::span<const std::byte> bytes) {
    constexpr std::size_t fewest = std::size_t{1} << 18;
    std::array<std::uint32_t, 64> crcs{};
    const std::size_t count = std::clamp<std::size_t>(bytes.size() / fewest, 1, crcs.size());
    if (count == 1) return crc32(bytes);
    const std::size_t length = (bytes.size() + count - 1) / count;
    const auto piece = [&](std::size_t i) {
        const std::size_t begin = std::min(i * length, bytes.size());
        return bytes.subspan(begin, std::min(length, bytes.size() - begin));
    };
    parallel_for(0, static_cast<std::int64_t>(count), [&](std::int64_t i) {
        const auto index = static_cast<std::size_t>(i);
        crcs.at(index) = crc32(piece(index));
    });
    std::uint32_t crc = crcs[0];
    for (std::size_t i = 1; i < count; ++i) {
        crc = static_cast<std::uint32_t>(::crc32_combine(crc, crcs.at(i), static_cast<z_off_t>(piece(i).size())));
    }
    return crc;
}

std::array<std::byte, frame_header_bytes> frame_header(std::uint64_t sequence, double time_s,
                                                       std::span<const std::byte> frame) {
    return FrameStamp(static_cast<std::uint32_t>(frame.size())).header(sequence, time_s, crc32(frame));
}

FrameStamp::FrameStamp(std::uint32_t frame_bytes)
    : frame_bytes_(frame_bytes),
      joining_(static_cast<std::uint32_t>(::crc32_combine_gen(static_cast<z_off_t>(frame_bytes)))) {}

std::array<std::byte, frame_header_bytes> FrameStamp::header(std::uint64_t sequence, double time_s,
                                                             std::uint32_t frame_crc) const {
    std::array<std::byte, frame_header_bytes> header{};
    std::memcpy(header.data(), "ECHOLUX1", 8);
    std::memcpy(header.data() + 8, &sequence, 8);
    std::memcpy(header.data() + 16, &time_s, 8);
    std::memcpy(header.data() + 24, &frame_bytes_, 4);
    const std::uint32_t own = crc32(std::span(header).first(checked_bytes));
    const auto joined = static_cast<std::uint32_t>(::crc32_combine_op(own, frame_crc, joining_));
    std::memcpy(header.data() + checked_bytes, &joined, 4);
    return header;
}

}  // namespace echolux
