// Key frames in a TOML file: tables [[key]], each with its `time_s` and the keys of the section [view] that it sets.
#pragma once

#include <filesystem>

#include "render/key_frames.h"

namespace echolux {

// Throws Error{bad_file} for a file that is missing or no TOML, Error{bad_setting} naming file, line and key.
KeyFrames read_key_frames(const std::filesystem::path& path);

}  // namespace echolux
