#include "engine/io/movie_file.h"

#include <array>
#include <utility>

#include "compute/error.h"
#include "engine/build.h"
#include "engine/io/movie/ffmpeg/encoder.h"

namespace echolux {
namespace {

constexpr std::array<std::pair<StreamCodec, const char*>, 4> stream_codec_names{
    {{StreamCodec::h264, "h264"}, {StreamCodec::vp8, "vp8"}, {StreamCodec::av1, "av1"}, {StreamCodec::jpeg, "jpeg"}}};

}  // namespace

const char* name_of(StreamCodec codec) {
    for (const auto& [known, name] : stream_codec_names) {
        if (known == codec) return name;
    }
    return "";
}

std::optional<StreamCodec> stream_codec(std::string_view name) {
    for (const auto& [codec, known] : stream_codec_names) {
        if (known == name) return codec;
    }
    return std::nullopt;
}

std::unique_ptr<StreamEncoder> make_stream_encoder(const StreamFormat& format) {
    if (format.width < 2 || format.height < 2 || format.width % 2 != 0 || format.height % 2 != 0)
        throw Error(ErrorCode::bad_setting, "a video has an even width and height", "video");
    if constexpr (has(Part::movies))
        return make_ffmpeg_stream(format);
    else
        refuse_missing(Part::movies, "video");
}

const std::vector<StreamCodec>& stream_codecs() {
    static const std::vector<StreamCodec> found = [] {
        if constexpr (has(Part::movies))
            return ffmpeg_stream_codecs();
        else
            return std::vector<StreamCodec>{};
    }();
    return found;
}

}  // namespace echolux
