// Key frames in a TOML file: tables [[key]], each with its `time_s`, perhaps an `ease`, and the keys of the section
// [view] that it sets.
#pragma once

#include <filesystem>
#include <string_view>

#include "render/key_frames.h"

namespace echolux {

// What one table says.
struct KeyFrame {
    double time_s = 0;
    Ease ease = Ease::smooth;
    std::map<std::string, Value> values{};
    std::string where{};
};

// Throws Error{bad_file} for a file that is missing or no TOML, Error{bad_setting} naming file, line and key.
KeyFrames read_key_frames(const std::filesystem::path& path);

// The same of a text, which `where` names.
std::vector<KeyFrame> key_frames_of(std::string_view text, const std::string& where);

KeyFrames joined(const std::vector<KeyFrame>& frames);

}  // namespace echolux
