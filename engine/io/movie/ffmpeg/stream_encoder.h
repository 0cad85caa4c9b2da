// Encodes single pictures with FFmpeg; see engine/io/video_stream.h.
#pragma once

#include <memory>
#include <vector>

#include "engine/io/video_stream.h"

namespace echolux {

// `format` must be valid. Throws Error{device}.
std::unique_ptr<StreamEncoder> make_ffmpeg_stream(const StreamFormat& format);

std::vector<StreamCodec> ffmpeg_stream_codecs();  // empty without FFmpeg

}  // namespace echolux
