// Owning pointers for FFmpeg's objects, released by functions that take a pointer to the pointer.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "engine/io/movie/ffmpeg/ffmpeg_library.h"

namespace echolux::ffmpeg_objects {

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
inline std::string told(int failure) {
    std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
    ffmpeg().av_strerror(failure, text.data(), text.size());
    return text.data();
}

// Tags the stream as BT.709 in limited range, which players assume for video.
inline void tag_as_video(AVCodecContext& coder) {
    coder.color_range = AVCOL_RANGE_MPEG;
    coder.color_primaries = AVCOL_PRI_BT709;
    coder.color_trc = AVCOL_TRC_BT709;
    coder.colorspace = AVCOL_SPC_BT709;
}

// Allocates a picture of the coder's size and colours. `result` is negative if its pixels could not be allocated.
inline Frame made_picture(const AVCodecContext& coder, AVPixelFormat pixels, int& result) {
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

}  // namespace echolux::ffmpeg_objects
