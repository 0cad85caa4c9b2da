// Natural order of names: scan2 before scan10.
#pragma once

#include <filesystem>
#include <string_view>

namespace echolux {

// Returns whether `a` comes before `b`. Runs of digits compare as numbers.
bool is_before_naturally(std::string_view a, std::string_view b);

// Compares only the last components of the paths.
inline bool is_before_naturally_named(const std::filesystem::path& a, const std::filesystem::path& b) {
    return is_before_naturally(a.filename().string(), b.filename().string());
}

}  // namespace echolux
