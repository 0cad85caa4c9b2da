// Pictures for somebody who looks at them now: each is encoded by itself and comes out at once, in the order in which
// it went in. What encodes is the FFmpeg of the user's system (H.264, VP8, AV1, JPEG).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace echolux {

enum class StreamCodec { h264, vp8, av1, jpeg };
constexpr int stream_levels = 4;  // of quality, 0 is the best

struct StreamFormat {
    StreamCodec codec = StreamCodec::jpeg;
    std::int64_t width = 0, height = 0;  // even
    int level = 0;
};

struct StreamedPicture {
    std::vector<std::byte> bytes;
    bool is_key = true;  // a key frame: needs no picture before it
};

// One thread at a time.
class StreamEncoder {
  public:
    virtual ~StreamEncoder() = default;

    virtual std::string name() const = 0;  // "libx264"
    // As WebCodecs names what comes out: "avc1.42c029", known once a picture has been encoded.
    virtual std::string codec_text() const = 0;
    // RGBA, row by row from the top. Throws Error{device}.
    virtual StreamedPicture encode(std::span<const std::uint8_t> rgba, bool force_key_frame) = 0;
};

// Throws Error{device}: no FFmpeg, or none that makes it; Error{bad_setting}: an odd size.
std::unique_ptr<StreamEncoder> make_stream_encoder(const StreamFormat& format);

// Which codecs this machine's FFmpeg makes; empty: none, or there is no FFmpeg. Looked up once.
const std::vector<StreamCodec>& stream_codecs();

const char* name_of(StreamCodec codec);  // "h264"
std::optional<StreamCodec> stream_codec(std::string_view name);

}  // namespace echolux
