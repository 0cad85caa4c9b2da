// Case-insensitive names of files and keys. ASCII only.
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

// Returns the extension: ".png" for "scan.PNG".
inline std::string lower_ending(const std::filesystem::path& path) {
    return lower_case(path.extension().string());
}

}  // namespace echolux
