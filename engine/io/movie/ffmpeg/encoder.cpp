// Implements encoder.h. FFmpeg is loaded at run time and not linked. Packages such as Debian's are GPL, which must not
// be distributed together with NVIDIA's libraries. The user's own FFmpeg is therefore used.
#include "engine/io/movie/ffmpeg/encoder.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/atomic_file.h"
#include "engine/io/movie/video_colours.h"
#include "engine/io/movie_file.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
}

namespace echolux {
namespace {

// ---- FFmpeg's functions ---------------------------------------------------------------------------------------------

// Table of the functions needed for movies: F(library, function)
#define ECHOLUX_FFMPEG_FUNCTIONS(F)             \
    F(avutil, av_buffer_ref)                    \
    F(avutil, av_buffer_unref)                  \
    F(avutil, av_dict_free)                     \
    F(avutil, av_dict_set)                      \
    F(avutil, av_frame_alloc)                   \
    F(avutil, av_frame_free)                    \
    F(avutil, av_frame_get_buffer)              \
    F(avutil, av_frame_make_writable)           \
    F(avutil, av_frame_unref)                   \
    F(avutil, av_hwdevice_ctx_create)           \
    F(avutil, av_hwframe_ctx_alloc)             \
    F(avutil, av_hwframe_ctx_init)              \
    F(avutil, av_hwframe_get_buffer)            \
    F(avutil, av_hwframe_transfer_data)         \
    F(avutil, av_log_set_level)                 \
    F(avutil, av_strerror)                      \
    F(avcodec, av_packet_alloc)                 \
    F(avcodec, av_packet_free)                  \
    F(avcodec, av_packet_rescale_ts)            \
    F(avcodec, avcodec_alloc_context3)          \
    F(avcodec, avcodec_find_encoder_by_name)    \
    F(avcodec, avcodec_free_context)            \
    F(avcodec, avcodec_open2)                   \
    F(avcodec, avcodec_parameters_from_context) \
    F(avcodec, avcodec_receive_packet)          \
    F(avcodec, avcodec_send_frame)              \
    F(avformat, av_interleaved_write_frame)     \
    F(avformat, av_write_trailer)               \
    F(avformat, avformat_alloc_output_context2) \
    F(avformat, avformat_free_context)          \
    F(avformat, avformat_new_stream)            \
    F(avformat, avformat_write_header)          \
    F(avformat, avio_closep)                    \
    F(avformat, avio_open)

struct Ffmpeg {
#define ECHOLUX_DECLARE(library, function) decltype(&::function) function;
    ECHOLUX_FFMPEG_FUNCTIONS(ECHOLUX_DECLARE)
#undef ECHOLUX_DECLARE
};

[[noreturn]] void fail(const std::string& problem) {
    throw Error(ErrorCode::device, problem, "movies",
                fmt::format("install FFmpeg {} (Debian and Ubuntu: libavcodec{} and libavformat{}), set ECHOLUX_FFMPEG "
                            "to the folder of its libraries, or write an image series: frame_%04d.png",
                            LIBAVFORMAT_VERSION_MAJOR - 54, LIBAVCODEC_VERSION_MAJOR, LIBAVFORMAT_VERSION_MAJOR));
}

// Never closed: encoders have threads and devices that may outlive their owners.
void* opened(const char* name, int major) {
    const std::string file = fmt::format("lib{}.so.{}", name, major);
    const char* folder = std::getenv("ECHOLUX_FFMPEG");
    const std::string path = folder != nullptr && *folder != '\0' ? fmt::format("{}/{}", folder, file) : file;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) fail(fmt::format("{} was not found on this machine", path));
    return library;
}

Ffmpeg loaded() {
    // Each library depends on those above it.
    void* avutil = opened("avutil", LIBAVUTIL_VERSION_MAJOR);
    void* avcodec = opened("avcodec", LIBAVCODEC_VERSION_MAJOR);
    void* avformat = opened("avformat", LIBAVFORMAT_VERSION_MAJOR);
    Ffmpeg table{};
    const auto find = [](void* library, auto& function, const char* name) {
        void* found = dlsym(library, name);
        if (found == nullptr) fail(fmt::format("the installed FFmpeg has no function {}", name));
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    };
#define ECHOLUX_FIND(library, function) find(library, table.function, #function);
    ECHOLUX_FFMPEG_FUNCTIONS(ECHOLUX_FIND)
#undef ECHOLUX_FIND
    table.av_log_set_level(AV_LOG_QUIET);  // errors are reported as exceptions
    return table;
}

// Returns the functions, loading FFmpeg at the first call. It must have the version of the headers used to build this
// program. Searches the folder in ECHOLUX_FFMPEG if set, else the system's libraries. Thread-safe. Throws Error{device}
// naming the packages to install.
const Ffmpeg& ffmpeg() {
    static const Ffmpeg table = loaded();  // retried after an exception
    return table;
}

// ---- FFmpeg's objects -----------------------------------------------------------------------------------------------

// Owning pointers, released by functions that take a pointer to the pointer.
template <class Object, auto Ffmpeg::*release>
struct Release {
    void operator()(Object* object) const { (ffmpeg().*release)(&object); }
};
using Coder = std::unique_ptr<AVCodecContext, Release<AVCodecContext, &Ffmpeg::avcodec_free_context>>;
using Frame = std::unique_ptr<AVFrame, Release<AVFrame, &Ffmpeg::av_frame_free>>;
using Packet = std::unique_ptr<AVPacket, Release<AVPacket, &Ffmpeg::av_packet_free>>;
using Buffer = std::unique_ptr<AVBufferRef, Release<AVBufferRef, &Ffmpeg::av_buffer_unref>>;

// Options and metadata.
struct Dictionary {
    Dictionary() = default;
    ~Dictionary() { ffmpeg().av_dict_free(&entries); }
    Dictionary(const Dictionary&) = delete;
    Dictionary& operator=(const Dictionary&) = delete;
    void set(const std::string& key, const std::string& value) {
        ffmpeg().av_dict_set(&entries, key.c_str(), value.c_str(), 0);
    }

    AVDictionary* entries = nullptr;
};

// Returns FFmpeg's description of an error code.
std::string error_text(int failure) {
    std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
    ffmpeg().av_strerror(failure, text.data(), text.size());
    return text.data();
}

// Tags the stream as BT.709 in limited range, which players assume for video.
void tag_as_video(AVCodecContext& coder) {
    coder.color_range = AVCOL_RANGE_MPEG;
    coder.color_primaries = AVCOL_PRI_BT709;
    coder.color_trc = AVCOL_TRC_BT709;
    coder.colorspace = AVCOL_SPC_BT709;
}

// Allocates a picture of the coder's size and colours. `result` is negative if its pixels could not be allocated.
Frame made_picture(const AVCodecContext& coder, AVPixelFormat pixels, int& result) {
    Frame frame(ffmpeg().av_frame_alloc());
    frame->format = pixels;
    frame->width = coder.width;
    frame->height = coder.height;
    frame->color_range = coder.color_range;
    frame->color_primaries = coder.color_primaries;
    frame->color_trc = coder.color_trc;
    frame->colorspace = coder.colorspace;
    frame->chroma_location = coder.chroma_sample_location;
    result = ffmpeg().av_frame_get_buffer(frame.get(), 0);
    return frame;
}

// ---- movies ---------------------------------------------------------------------------------------------------------

// An encoder with its options.
struct EncoderChoice {
    const char* name;
    AVPixelFormat pixels;  // format of its input
    std::vector<std::pair<std::string, std::string>> options;

    // Whether it runs on the GPU through VA-API, which needs uploaded frames.
    bool is_on_vaapi() const { return pixels == AV_PIX_FMT_VAAPI; }
};

// Quality as CRF; `fine` is the default.
std::string crf_or(const MovieFormat& format, double fine) {
    return fmt::format("{:g}", format.crf >= 0 ? format.crf : fine);
}

// Hardware encoders use the CRF as a constant quantiser, which must be an integer.
std::string qp_or(const MovieFormat& format, double fine) {
    return fmt::format("{:.0f}", format.crf >= 0 ? format.crf : fine);
}

void add_hardware(std::vector<EncoderChoice>& choices, const MovieFormat& format, const char* nvenc, const char* vaapi,
                  double fine) {
    if (!format.may_use_hardware) return;
    const std::string qp = qp_or(format, fine);
    if (nvenc != nullptr)
        choices.push_back({nvenc, AV_PIX_FMT_YUV420P, {{"preset", "p5"}, {"rc", "constqp"}, {"qp", qp}}});
    choices.push_back({vaapi, AV_PIX_FMT_VAAPI, {{"rc_mode", "CQP"}, {"qp", qp}, {"global_quality", qp}}});
}

// Returns the encoders for a resolved codec in order of preference, with options for visually lossless movies (PSNR
// above 40 dB). Empty for codecs without FFmpeg.
std::vector<EncoderChoice> encoders_for(const MovieFormat& format) {
    constexpr AVPixelFormat yuv = AV_PIX_FMT_YUV420P;
    std::vector<EncoderChoice> choices;
    switch (format.codec) {
        case MovieCodec::h264:
            add_hardware(choices, format, "h264_nvenc", "h264_vaapi", 14);
            choices.push_back({"libx264", yuv, {{"preset", "medium"}, {"crf", crf_or(format, 8)}}});
            break;
        case MovieCodec::h265:
            add_hardware(choices, format, "hevc_nvenc", "hevc_vaapi", 14);
            choices.push_back({"libx265",
                               yuv,
                               {{"preset", "medium"}, {"crf", crf_or(format, 10)}, {"x265-params", "log-level=none"}}});
            break;
        case MovieCodec::av1:
            add_hardware(choices, format, "av1_nvenc", "av1_vaapi", 40);
            if (std::min(format.width, format.height) >= 64)  // SVT-AV1's minimum size
                choices.push_back({"libsvtav1", yuv, {{"preset", "8"}, {"crf", crf_or(format, 6)}}});
            choices.push_back(
                {"libaom-av1", yuv, {{"cpu-used", "6"}, {"row-mt", "1"}, {"crf", crf_or(format, 8)}, {"b", "0"}}});
            break;
        case MovieCodec::vp9:
            add_hardware(choices, format, nullptr, "vp9_vaapi", 40);
            choices.push_back(
                {"libvpx-vp9",
                 yuv,
                 {{"deadline", "good"}, {"cpu-used", "4"}, {"row-mt", "1"}, {"crf", crf_or(format, 8)}, {"b", "0"}}});
            break;
        case MovieCodec::prores:
            choices.push_back({"prores_ks",
                               format.has_alpha ? AV_PIX_FMT_YUVA444P10 : AV_PIX_FMT_YUV444P10,
                               {{"profile", "4444"}, {"vendor", "apl0"}, {"alpha_bits", "16"}}});
            break;
        case MovieCodec::gif: choices.push_back({"gif", AV_PIX_FMT_PAL8, {}}); break;
        case MovieCodec::webp:
            choices.push_back({"libwebp_anim", AV_PIX_FMT_BGRA, {{"quality", "95"}, {"compression_level", "4"}}});
            break;
        case MovieCodec::automatic:
        case MovieCodec::png: break;
    }
    return choices;
}

struct CloseFile {
    void operator()(AVFormatContext* file) const {
        ffmpeg().avio_closep(&file->pb);
        ffmpeg().avformat_free_context(file);
    }
};
using File = std::unique_ptr<AVFormatContext, CloseFile>;

// Encodes pictures and muxes them into one file.
class Encoder : public MovieWriter {
  public:
    Encoder(const std::filesystem::path& path, const char* container, const MovieFormat& format)
        : path_(path), format_(format), finished_(path), packet_(ffmpeg().av_packet_alloc()) {
        begin_file(container);
        choose_coder();
        begin_stream(container);
    }

    std::string encoder() const override { return coder_->codec->name; }
    // A WebP animation is a single packet, so packets are only counted after a failure.
    std::int64_t pictures() const override { return failure_ == 0 ? added_ : packets_; }

    void add(std::span<const std::uint8_t> rgba, const std::map<std::string, std::string>&) override {
        if (failure_ != 0) fail(failure_);
        if (added_ == format_.max_pictures)
            throw Error(ErrorCode::bad_setting, fmt::format("more than {}", plural(added_, "pictures")),
                        path_.string());
        if (std::ssize(rgba) != 4 * format_.width * format_.height)
            throw Error(ErrorCode::bad_setting, "an image differs in size from the movie", path_.string());
        fill(rgba);
        picture_->pts = added_++;
        encode(uploaded());
    }

    // After a failure, the index of the pictures up to that point can still be stored, because space was reserved for
    // it.
    void finish() override {
        if (std::exchange(is_ended_, true)) return;
        const int earlier = failure_;
        if (earlier == 0) flush();
        if (packets_ > 0) {
            file_->pb->error = 0;
            note(ffmpeg().av_write_trailer(file_.get()));
            note(ffmpeg().avio_closep(&file_->pb));
            finished_.commit();
        }
        if (failure_ != 0 && earlier == 0) fail(failure_);
    }

  private:
    [[noreturn]] void fail(int failure) const {
        throw Error(ErrorCode::output, fmt::format("cannot be written: {}", error_text(failure)), path_.string(),
                    "check folder, permissions and free space");
    }

    void check(int result) {
        note(result);
        if (result < 0) fail(result);
    }

    void note(int result) {
        if (result < 0 && failure_ == 0) failure_ = result;
    }

    void flush() {
        try {
            encode(nullptr);
        } catch (const Error&) {  // stored in failure_
        }
    }

    void begin_file(const char* container) {
        AVFormatContext* made = nullptr;
        check(ffmpeg().avformat_alloc_output_context2(&made, nullptr, container, finished_.temporary().c_str()));
        file_.reset(made);
        // Makes files reproducible and reports write errors immediately.
        file_->flags |= AVFMT_FLAG_BITEXACT | AVFMT_FLAG_FLUSH_PACKETS;
        for (const auto& [key, value] : format_.text)
            ffmpeg().av_dict_set(&file_->metadata, key.c_str(), value.c_str(), 0);
    }

    // Opens the first encoder that FFmpeg supports and that works on this machine.
    void choose_coder() {
        std::string tried;
        for (const EncoderChoice& choice : encoders_for(format_)) {
            const AVCodec* codec = ffmpeg().avcodec_find_encoder_by_name(choice.name);
            if (codec != nullptr && open(codec, choice)) return;
            tried += fmt::format("{}{}", tried.empty() ? "" : ", ", choice.name);
        }
        throw Error(ErrorCode::device, "the installed FFmpeg has no working encoder for it", path_.string(),
                    fmt::format("one of these is needed: {}", tried));
    }

    bool open(const AVCodec* codec, const EncoderChoice& choice) {
        coder_.reset(ffmpeg().avcodec_alloc_context3(codec));
        describe_pictures(choice);
        if (choice.is_on_vaapi() && !open_vaapi()) return false;
        Dictionary options;
        for (const auto& [key, value] : choice.options) options.set(key, value);
        if (ffmpeg().avcodec_open2(coder_.get(), codec, &options.entries) < 0) return false;
        int made = 0;
        picture_ = made_picture(*coder_, choice.is_on_vaapi() ? AV_PIX_FMT_NV12 : choice.pixels, made);
        check(made);
        return true;
    }

    void describe_pictures(const EncoderChoice& choice) {
        coder_->width = static_cast<int>(format_.width);
        coder_->height = static_cast<int>(format_.height);
        coder_->pix_fmt = choice.pixels;
        coder_->time_base = {static_cast<int>(format_.rate.seconds), static_cast<int>(format_.rate.pictures)};
        coder_->framerate = {coder_->time_base.den, coder_->time_base.num};
        coder_->sample_aspect_ratio = {1, 1};
        coder_->gop_size = static_cast<int>(std::max(12.0, std::round(2 * format_.rate.per_s())));  // 2 s
        coder_->thread_count = 0;  // one thread per core
        coder_->flags |= AV_CODEC_FLAG_BITEXACT;
        if ((file_->oformat->flags & AVFMT_GLOBALHEADER) != 0) coder_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
        if (format_.codec == MovieCodec::gif || format_.codec == MovieCodec::webp) return;
        tag_as_video(*coder_);
        if (needs_even_size(format_.codec)) coder_->chroma_sample_location = AVCHROMA_LOC_LEFT;
    }

    bool open_vaapi() {
        AVBufferRef* made = nullptr;
        if (ffmpeg().av_hwdevice_ctx_create(&made, AV_HWDEVICE_TYPE_VAAPI, nullptr, nullptr, 0) < 0) return false;
        const Buffer device(made);
        Buffer frames(ffmpeg().av_hwframe_ctx_alloc(device.get()));
        if (!frames) return false;
        auto* context = reinterpret_cast<AVHWFramesContext*>(frames->data);
        context->format = AV_PIX_FMT_VAAPI;
        context->sw_format = AV_PIX_FMT_NV12;
        context->width = coder_->width;
        context->height = coder_->height;
        context->initial_pool_size = 20;
        if (ffmpeg().av_hwframe_ctx_init(frames.get()) < 0) return false;
        coder_->hw_frames_ctx = ffmpeg().av_buffer_ref(frames.get());
        return true;
    }

    void begin_stream(const char* container) {
        stream_ = ffmpeg().avformat_new_stream(file_.get(), nullptr);
        if (stream_ == nullptr) throw std::bad_alloc();
        check(ffmpeg().avcodec_parameters_from_context(stream_->codecpar, coder_.get()));
        stream_->time_base = coder_->time_base;
        stream_->avg_frame_rate = stream_->r_frame_rate = coder_->framerate;
        stream_->sample_aspect_ratio = coder_->sample_aspect_ratio;
        Dictionary options;
        const std::string name = container;
        if (name == "mp4" || name == "mov") {
            // Reserves space for the index before the pictures. Players can start without reading the whole file, and
            // the index still fits when the disk is full.
            std::int64_t bytes = 16384 + 64 * format_.max_pictures;
            for (const auto& [key, value] : format_.text) bytes += std::ssize(key) + std::ssize(value) + 64;
            options.set("moov_size", std::to_string(bytes));
            options.set("movflags", "use_metadata_tags+write_colr");
        }
        if (name == "gif" || name == "webp") options.set("loop", "0");  // repeat forever
        check(ffmpeg().avio_open(&file_->pb, finished_.temporary().c_str(), AVIO_FLAG_WRITE));
        check(ffmpeg().avformat_write_header(file_.get(), &options.entries));
    }

    // Converts the pixels to the encoder's format. Copies the frame first if the encoder still holds a reference to it.
    void fill(std::span<const std::uint8_t> rgba) {
        check(ffmpeg().av_frame_make_writable(picture_.get()));
        AVFrame& to = *picture_;
        switch (to.format) {
            case AV_PIX_FMT_YUV420P:
                return to_yuv420(rgba, to.width, to.height,
                                 {to.data[0], to.data[1], to.data[2], to.linesize[0], to.linesize[1]});
            case AV_PIX_FMT_NV12:
                return to_yuv420(rgba, to.width, to.height,
                                 {to.data[0], to.data[1], to.data[1] + 1, to.linesize[0], to.linesize[1], 2});
            case AV_PIX_FMT_PAL8: return fill_palette(rgba);
            case AV_PIX_FMT_BGRA: return fill_bgra(rgba);
            default: return fill_yuva(rgba);
        }
    }

    void fill_palette(std::span<const std::uint8_t> rgba) {
        const Palette palette =
            palettes_.quantise(rgba, format_.width, format_.has_alpha, picture_->data[0], picture_->linesize[0]);
        std::memcpy(picture_->data[1], palette.colours.data(), sizeof palette.colours);
    }

    void fill_bgra(std::span<const std::uint8_t> rgba) {
        for (std::int64_t y = 0; y < format_.height; ++y) {
            const std::uint8_t* from = rgba.data() + 4 * y * format_.width;
            std::uint8_t* to = picture_->data[0] + y * picture_->linesize[0];
            for (std::int64_t x = 0; x < format_.width; ++x, from += 4, to += 4) {
                to[0] = from[2], to[1] = from[1], to[2] = from[0], to[3] = from[3];
            }
        }
    }

    void fill_yuva(std::span<const std::uint8_t> rgba) {
        const auto plane = [&](int i) { return reinterpret_cast<std::byte*>(picture_->data[i]); };
        to_yuva444(rgba, format_.width, format_.height,
                   {plane(0), plane(1), plane(2), plane(3), picture_->linesize[0]});
    }

    // Returns the picture in the memory that the encoder reads, on the graphics card if it runs there.
    AVFrame* uploaded() {
        if (!coder_->hw_frames_ctx) return picture_.get();
        on_card_.reset(ffmpeg().av_frame_alloc());
        check(ffmpeg().av_hwframe_get_buffer(coder_->hw_frames_ctx, on_card_.get(), 0));
        check(ffmpeg().av_hwframe_transfer_data(on_card_.get(), picture_.get(), 0));
        on_card_->pts = picture_->pts;
        return on_card_.get();
    }

    // Encodes a picture and writes the finished packets. nullptr flushes the encoder.
    void encode(const AVFrame* picture) {
        check(ffmpeg().avcodec_send_frame(coder_.get(), picture));
        for (;;) {
            const int result = ffmpeg().avcodec_receive_packet(coder_.get(), packet_.get());
            if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) return;
            check(result);
            if (packet_->duration == 0) packet_->duration = 1;
            ffmpeg().av_packet_rescale_ts(packet_.get(), coder_->time_base, stream_->time_base);
            packet_->stream_index = stream_->index;
            check(ffmpeg().av_interleaved_write_frame(file_.get(), packet_.get()));
            ++packets_;
        }
    }

    std::filesystem::path path_;
    MovieFormat format_;
    AtomicFile finished_;
    File file_;
    Coder coder_;
    AVStream* stream_ = nullptr;
    Frame picture_, on_card_;
    Packet packet_;
    Palettes palettes_;
    std::int64_t added_ = 0;
    std::int64_t packets_ = 0;
    int failure_ = 0;  // first error code
    bool is_ended_ = false;
};

}  // namespace

std::unique_ptr<MovieWriter> make_encoder(const std::filesystem::path& path, const char* container,
                                          const MovieFormat& format) {
    ffmpeg();  // throws before any file is created if FFmpeg is missing
    return std::make_unique<Encoder>(path, container, format);
}

// ---- streams --------------------------------------------------------------------------------------------------------

namespace {

struct Choice {
    const char* name;
    AVPixelFormat pixels;
    std::vector<std::pair<std::string, std::string>> options;
};

std::string by_level(int level, const std::array<int, stream_levels>& values) {
    return std::to_string(values.at(index(std::clamp(level, 0, stream_levels - 1))));
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
        throw Error(ErrorCode::device, fmt::format("the installed FFmpeg has no {} encoder", name_of(format.codec)),
                    "video");
    }

    std::string name() const override { return coder_->codec->name; }
    std::string codec_text() const override { return codec_text_; }

    StreamedPicture encode(std::span<const std::uint8_t> rgba, bool force_key_frame) override {
        if (std::ssize(rgba) != 4 * format_.width * format_.height)
            throw Error(ErrorCode::bad_setting, "an image differs in size from the video", "video");
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
        if (result < 0)
            throw Error(ErrorCode::device, fmt::format("{} failed: {}", name(), error_text(result)), "video");
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
        coder_->global_quality = FF_QP2LAMBDA * steps.at(index(format_.level));
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
