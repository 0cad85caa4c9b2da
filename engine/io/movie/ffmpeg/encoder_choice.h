// FFmpeg's encoders per codec, in order of preference, with options for visually lossless movies (PSNR above 40 dB).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/io/movie/ffmpeg/ffmpeg_library.h"
#include "engine/io/movie_file.h"

namespace echolux {

struct EncoderChoice {
    const char* name;
    AVPixelFormat pixels;  // format of its input
    std::vector<std::pair<std::string, std::string>> options;

    // Whether it runs on the GPU through VA-API, which needs uploaded frames.
    bool is_on_vaapi() const { return pixels == AV_PIX_FMT_VAAPI; }
};

// Returns the encoders for a resolved codec; empty for codecs without FFmpeg.
std::vector<EncoderChoice> encoders_for(const MovieFormat& format);

}  // namespace echolux
