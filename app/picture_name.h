// Whether a file's name ends in .png, in upper or lower case.
#pragma once

#include <filesystem>

namespace echolux {

inline bool is_png_name(const std::filesystem::path& path) {
    const std::string ending = path.extension().string();
    return ending == ".png" || ending == ".PNG";
}

}  // namespace echolux
