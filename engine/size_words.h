// Sizes of files and memory as text for people.
#pragma once

#include <fmt/format.h>

#include <string>

namespace echolux {

// Returns a size as "640 bytes", "1.5 KiB" or "23.5 GiB".
inline std::string size_words(double bytes) {
    const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
    return bytes < 10000 ? fmt::format("{:.4g} {}", bytes, units[unit]) : fmt::format("{:.0f} {}", bytes, units[unit]);
}

}  // namespace echolux
