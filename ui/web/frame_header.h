// Header of each picture sent to a page: 40 bytes, little-endian, described in docs/serve.md. The page parses it in
// assets/web/video.js.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace echolux {

struct FrameHeader {
    std::uint8_t kind = 0;  // video is 0, a still picture (PNG) is 1
    std::uint8_t is_key = 0;
    std::uint8_t codec = 0;  // index into the codec list of "welcome"
    std::uint8_t level = 0;  // quality level; 0 is the best
    std::uint32_t picture = 0;
    std::uint32_t input = 0;  // number of the last input from this page that the picture shows
    std::uint32_t width = 0, height = 0;
    float drawing_ms = 0;  // from the arrival of that input to the picture; negative without new input
    float waiting_ms = 0;  // from the picture to the start of encoding
    float encoding_ms = 0;
    std::uint32_t reserved[2] = {};
};
static_assert(sizeof(FrameHeader) == 40);
static_assert(std::endian::native == std::endian::little);

// Returns the header followed by the picture.
inline std::shared_ptr<const std::vector<std::byte>> framed(const FrameHeader& header,
                                                            const std::vector<std::byte>& bytes) {
    auto whole = std::make_shared<std::vector<std::byte>>(sizeof header + bytes.size());
    std::memcpy(whole->data(), &header, sizeof header);
    std::memcpy(whole->data() + sizeof header, bytes.data(), bytes.size());
    return whole;
}

}  // namespace echolux
