// Encodes movies with FFmpeg.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/io/movie_file.h"

namespace echolux {

// Creates a movie. `container` is FFmpeg's name of the file format. `format` must be valid and its codec resolved.
// Throws Error{device, bad_setting, output}.
std::unique_ptr<MovieWriter> make_encoder(const std::filesystem::path& path, const char* container,
                                          const MovieFormat& format);

}  // namespace echolux
