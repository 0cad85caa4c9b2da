// What stands before each picture that goes to a page: 40 bytes, little-endian, as docs/serve.md describes them. The
// page reads the same in assets/web/video.js.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace echolux {

struct FrameHeader {
    std::uint8_t kind = 0;  // 0 video, 1 a still (PNG)
    std::uint8_t is_key = 0;
    std::uint8_t codec = 0;  // place in the list of "welcome"
    std::uint8_t level = 0;  // of quality
    std::uint32_t picture = 0;
    std::uint32_t input = 0;  // the last of this page that the picture shows
    std::uint32_t width = 0, height = 0;
    float drawing_ms = 0;  // from that input's arrival to the picture; < 0: nothing new was shown
    float waiting_ms = 0;  // from the picture to its turn at the encoder
    float encoding_ms = 0;
    std::uint32_t reserved[2] = {};
};
static_assert(sizeof(FrameHeader) == 40);
static_assert(std::endian::native == std::endian::little);

inline std::shared_ptr<const std::vector<std::byte>> framed(const FrameHeader& header,
                                                            const std::vector<std::byte>& bytes) {
    auto whole = std::make_shared<std::vector<std::byte>>(sizeof header + bytes.size());
    std::memcpy(whole->data(), &header, sizeof header);
    std::memcpy(whole->data() + sizeof header, bytes.data(), bytes.size());
    return whole;
}

}  // namespace echolux
