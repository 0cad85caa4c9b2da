// Table of the FFmpeg functions needed for movies. FFmpeg is loaded at run time and not linked. Packages such as
// Debian's are GPL, which must not be distributed together with NVIDIA's libraries. So the user's own FFmpeg is used.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
}

namespace echolux {

// F(library, function)
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

// Returns the functions, loading FFmpeg at the first call. It must have the version of the headers used to build this
// program. Searches the folder in ECHOLUX_FFMPEG if set, else the system's libraries. Thread-safe. Throws Error{device}
// naming the packages to install.
const Ffmpeg& ffmpeg();

}  // namespace echolux
