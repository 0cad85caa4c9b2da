#include "engine/io/movie/ffmpeg/encoder.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/movie/ffmpeg/encoder_choice.h"
#include "engine/io/movie/ffmpeg/ffmpeg_objects.h"
#include "engine/io/movie/video_colours.h"

namespace echolux {
namespace {

using namespace ffmpeg_objects;

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
            throw Error(ErrorCode::bad_setting, fmt::format("more than {}", counted(added_, "pictures")),
                        path_.string());
        if (std::ssize(rgba) != 4 * format_.width * format_.height)
            throw Error(ErrorCode::bad_setting, "a picture has another size than the movie", path_.string());
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
        throw Error(ErrorCode::output, fmt::format("cannot be written: {}", told(failure)), path_.string(),
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
        throw Error(ErrorCode::device, "the FFmpeg of this machine has no encoder that works for it", path_.string(),
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

}  // namespace echolux
