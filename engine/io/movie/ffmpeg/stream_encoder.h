// Pictures that FFmpeg encodes one by one: see engine/io/video_stream.h.
#pragma once

#include <memory>
#include <vector>

#include "engine/io/video_stream.h"

namespace echolux {

// `format` has been checked. Throws Error{device}.
std::unique_ptr<StreamEncoder> make_ffmpeg_stream(const StreamFormat& format);

std::vector<StreamCodec> ffmpeg_stream_codecs();  // empty where there is no FFmpeg

}  // namespace echolux
