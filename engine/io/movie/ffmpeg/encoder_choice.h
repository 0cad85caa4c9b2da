// Which of FFmpeg's encoders make a codec, in the order in which they are tried, and how each is told to make movies
// whose decoded pictures are hard to tell from the originals (above 40 dB).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/io/movie/ffmpeg/ffmpeg_library.h"
#include "engine/io/movie_file.h"

namespace echolux {

struct EncoderChoice {
    const char* name;
    AVPixelFormat pixels;  // that it is given
    std::vector<std::pair<std::string, std::string>> options;

    bool is_on_vaapi() const { return pixels == AV_PIX_FMT_VAAPI; }
};

std::vector<EncoderChoice> encoders_for(const MovieFormat& format);

}  // namespace echolux
