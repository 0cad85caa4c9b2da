// Low-latency encoding for remote viewers. Each picture is encoded immediately and returned in input order. Uses the
// FFmpeg of the user's system (H.264, VP8, AV1, JPEG).
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
constexpr int stream_levels = 4;  // quality levels; 0 is the best

struct StreamFormat {
    StreamCodec codec = StreamCodec::jpeg;
    std::int64_t width = 0, height = 0;  // must be even
    int level = 0;
};

struct StreamedPicture {
    std::vector<std::byte> bytes;
    bool is_key = true;  // key frame: can be decoded without earlier pictures
};

// Encodes one stream. Use it from one thread at a time.
class StreamEncoder {
  public:
    virtual ~StreamEncoder() = default;

    virtual std::string name() const = 0;  // "libx264"
    // Codec string for WebCodecs: "avc1.42c029". Known after the first picture.
    virtual std::string codec_text() const = 0;
    // Encodes RGBA pixels, row by row from the top. Throws Error{device}.
    virtual StreamedPicture encode(std::span<const std::uint8_t> rgba, bool force_key_frame) = 0;
};

// Throws Error{device} if FFmpeg is missing or lacks the codec, and Error{bad_setting} for an odd size.
std::unique_ptr<StreamEncoder> make_stream_encoder(const StreamFormat& format);

// Returns the codecs that this machine's FFmpeg can encode; empty without FFmpeg. Determined once. Thread-safe.
const std::vector<StreamCodec>& stream_codecs();

const char* name_of(StreamCodec codec);  // "h264"
// Returns std::nullopt for an unknown name.
std::optional<StreamCodec> stream_codec(std::string_view name);

}  // namespace echolux
