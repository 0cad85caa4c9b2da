// Movies that FFmpeg encodes.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/io/movie_file.h"

namespace echolux {

// `container` is FFmpeg's name of the file's format; `format` has been checked and its codec chosen. Throws
// Error{device, bad_setting, output}.
std::unique_ptr<MovieWriter> make_encoder(const std::filesystem::path& path, const char* container,
                                          const MovieFormat& format);

}  // namespace echolux
