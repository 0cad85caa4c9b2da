#include "engine/io/movie/ffmpeg/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "compute/error.h"
#include "engine/io/movie/ffmpeg/ffmpeg_objects.h"
#include "engine/io/movie/video_colours.h"

namespace echolux {
namespace {

using namespace ffmpeg_objects;

struct Choice {
    const char* name;
    AVPixelFormat pixels;
    std::vector<std::pair<std::string, std::string>> options;
};

std::string by_level(int level, const std::array<int, stream_levels>& values) {
    return std::to_string(values.at(static_cast<std::size_t>(std::clamp(level, 0, stream_levels - 1))));
}

// Settings for low latency: no B-frames, no lookahead, threads per slice instead of per frame.
std::vector<Choice> choices_for(const StreamFormat& format) {
    constexpr AVPixelFormat yuv = AV_PIX_FMT_YUV420P;
    const std::string h264 = by_level(format.level, {20, 26, 32, 38}), vpx = by_level(format.level, {8, 20, 32, 45}),
                      av1 = by_level(format.level, {20, 32, 42, 52});
    std::vector<Choice> choices;
    switch (format.codec) {
        case StreamCodec::h264:
            choices.push_back({"h264_nvenc",
                               yuv,
                               {{"preset", "p1"},
                                {"tune", "ull"},
                                {"zerolatency", "1"},
                                {"delay", "0"},
                                {"rc", "constqp"},
                                {"qp", h264},
                                {"forced-idr", "1"}}});
            choices.push_back({"libx264",
                               yuv,
                               {{"preset", "ultrafast"}, {"tune", "zerolatency"}, {"crf", h264}, {"forced-idr", "1"}}});
            break;
        case StreamCodec::vp8:
            choices.push_back({"libvpx",
                               yuv,
                               {{"deadline", "realtime"},
                                {"cpu-used", "12"},
                                {"lag-in-frames", "0"},
                                {"auto-alt-ref", "0"},
                                {"crf", vpx},
                                {"b", "40000000"}}});
            break;
        case StreamCodec::av1:
            choices.push_back({"av1_nvenc",
                               yuv,
                               {{"preset", "p1"},
                                {"tune", "ull"},
                                {"zerolatency", "1"},
                                {"delay", "0"},
                                {"rc", "constqp"},
                                {"qp", av1}}});
            choices.push_back({"libaom-av1",
                               yuv,
                               {{"usage", "realtime"},
                                {"cpu-used", "10"},
                                {"lag-in-frames", "0"},
                                {"row-mt", "1"},
                                {"tile-columns", "2"},
                                {"crf", av1},
                                {"b", "0"}}});
            break;
        case StreamCodec::jpeg: choices.push_back({"mjpeg", AV_PIX_FMT_YUVJ420P, {}}); break;
    }
    return choices;
}

// Returns the codec string from profile, constraints and level of the first sequence parameter set (Recommendation
// ITU-T H.264, 7.3.2.1.1).
std::string h264_text(std::span<const std::byte> stream) {
    for (std::size_t i = 0; i + 6 < stream.size(); ++i) {
        const auto at = [&](std::size_t offset) { return std::to_integer<unsigned>(stream[i + offset]); };
        if (at(0) == 0 && at(1) == 0 && at(2) == 1 && (at(3) & 0x1F) == 7)
            return fmt::format("avc1.{:02x}{:02x}{:02x}", at(4), at(5), at(6));
    }
    return "avc1.42c02a";
}

class FfmpegStream : public StreamEncoder {
  public:
    explicit FfmpegStream(const StreamFormat& format) : format_(format), packet_(ffmpeg().av_packet_alloc()) {
        for (const Choice& choice : choices_for(format)) {
            const AVCodec* codec = ffmpeg().avcodec_find_encoder_by_name(choice.name);
            if (codec != nullptr && open(codec, choice)) return;
        }
        throw Error(ErrorCode::device,
                    fmt::format("the FFmpeg of this machine has no {} encoder", name_of(format.codec)), "video");
    }

    std::string name() const override { return coder_->codec->name; }
    std::string codec_text() const override { return codec_text_; }

    StreamedPicture encode(std::span<const std::uint8_t> rgba, bool force_key_frame) override {
        if (std::ssize(rgba) != 4 * format_.width * format_.height)
            throw Error(ErrorCode::bad_setting, "a picture has another size than the video", "video");
        check(ffmpeg().av_frame_make_writable(picture_.get()));
        fill(rgba);
        picture_->pts = pictures_++;
        picture_->pict_type = force_key_frame ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
        check(ffmpeg().avcodec_send_frame(coder_.get(), picture_.get()));
        StreamedPicture encoded;
        encoded.is_key = false;
        for (;;) {
            const int result = ffmpeg().avcodec_receive_packet(coder_.get(), packet_.get());
            if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) break;
            check(result);
            const auto* bytes = reinterpret_cast<const std::byte*>(packet_->data);
            encoded.bytes.insert(encoded.bytes.end(), bytes, bytes + packet_->size);
            encoded.is_key = encoded.is_key || (packet_->flags & AV_PKT_FLAG_KEY) != 0;
        }
        if (encoded.is_key && format_.codec == StreamCodec::h264) codec_text_ = h264_text(encoded.bytes);
        return encoded;
    }

  private:
    void check(int result) const {
        if (result < 0) throw Error(ErrorCode::device, fmt::format("{} failed: {}", name(), told(result)), "video");
    }

    bool open(const AVCodec* codec, const Choice& choice) {
        coder_.reset(ffmpeg().avcodec_alloc_context3(codec));
        coder_->width = static_cast<int>(format_.width);
        coder_->height = static_cast<int>(format_.height);
        coder_->pix_fmt = choice.pixels;
        coder_->time_base = {1, 60};
        coder_->framerate = {60, 1};
        coder_->gop_size = 1 << 14;  // key frames only on request
        coder_->max_b_frames = 0;
        constexpr int most_threads = 8;
        coder_->thread_count = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, most_threads);
        coder_->thread_type = FF_THREAD_SLICE;
        if (format_.codec == StreamCodec::jpeg)
            set_jpeg();
        else
            tag_as_video(*coder_);
        Dictionary options;
        for (const auto& [key, value] : choice.options) options.set(key, value);
        if (ffmpeg().avcodec_open2(coder_.get(), codec, &options.entries) < 0) return false;
        int made = 0;
        picture_ = made_picture(*coder_, choice.pixels, made);
        picture_->quality = coder_->global_quality;
        check(made);
        return true;
    }

    void set_jpeg() {
        constexpr std::array<int, stream_levels> steps{2, 5, 10, 18};  // quantiser in FFmpeg's scale of 2 to 31
        coder_->color_range = AVCOL_RANGE_JPEG;
        coder_->flags |= AV_CODEC_FLAG_QSCALE;
        coder_->global_quality = FF_QP2LAMBDA * steps.at(static_cast<std::size_t>(format_.level));
        coder_->qmin = 1;
    }

    void fill(std::span<const std::uint8_t> rgba) {
        AVFrame& to = *picture_;
        const YuvPlanes planes{to.data[0], to.data[1], to.data[2], to.linesize[0], to.linesize[1]};
        if (format_.codec == StreamCodec::jpeg)
            to_jpeg_yuv420(rgba, to.width, to.height, planes);
        else
            to_yuv420(rgba, to.width, to.height, planes);
    }

    StreamFormat format_;
    Coder coder_;
    Frame picture_;
    Packet packet_;
    std::int64_t pictures_ = 0;
    std::string codec_text_ = format_.codec == StreamCodec::vp8   ? "vp8"
                              : format_.codec == StreamCodec::av1 ? "av01.0.08M.08"
                                                                  : name_of(format_.codec);
};

}  // namespace

std::unique_ptr<StreamEncoder> make_ffmpeg_stream(const StreamFormat& format) {
    return std::make_unique<FfmpegStream>(format);
}

std::vector<StreamCodec> ffmpeg_stream_codecs() {
    std::vector<StreamCodec> found;
    for (const StreamCodec codec : {StreamCodec::h264, StreamCodec::vp8, StreamCodec::av1, StreamCodec::jpeg}) {
        try {
            make_ffmpeg_stream({codec, 640, 480});
            found.push_back(codec);
        } catch (const Error&) {  // try the next codec
        }
    }
    return found;
}

}  // namespace echolux
