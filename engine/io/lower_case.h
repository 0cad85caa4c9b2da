// Names of files and keys whose case does not matter.
#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>

namespace echolux {

inline std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

// ".png" of "scan.PNG".
inline std::string lower_ending(const std::filesystem::path& path) {
    return lower_case(path.extension().string());
}

}  // namespace echolux
