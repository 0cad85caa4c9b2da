// Encodes movies and streams (engine/io/movie_file.h) with FFmpeg. The only code that uses FFmpeg.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "engine/io/movie_file.h"

namespace echolux {

// Creates a movie. `container` is FFmpeg's name of the file format. `format` must be valid and its codec resolved.
// Throws Error{device, bad_setting, output}.
std::unique_ptr<MovieWriter> make_encoder(const std::filesystem::path& path, const char* container,
                                          const MovieFormat& format);

// Creates a stream. `format` must be valid. Throws Error{device}.
std::unique_ptr<StreamEncoder> make_ffmpeg_stream(const StreamFormat& format);

std::vector<StreamCodec> ffmpeg_stream_codecs();  // empty without FFmpeg

}  // namespace echolux
