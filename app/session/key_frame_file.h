// Key frames in a TOML file: [[key]] tables, each with `time_s`, an optional `ease`, and the keys of section [view]
// that it sets.
#pragma once

#include <filesystem>
#include <string_view>

#include "compute/plan/describe.h"
#include "render/key_frames.h"

namespace echolux {

// Content of one table.
struct KeyFrame {
    double time_s = 0;
    Ease ease = Ease::smooth;
    std::map<std::string, Value> values{};
    std::string where{};
};

// Throws Error{bad_file} if the file is missing or not TOML, and Error{bad_setting} with file, line and key.
KeyFrames read_key_frames(const std::filesystem::path& path);

// Parses a text; `where` is its name in errors.
std::vector<KeyFrame> key_frames_of(std::string_view text, const std::string& where);

KeyFrames joined(const std::vector<KeyFrame>& frames);

}  // namespace echolux
