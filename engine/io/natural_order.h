// Names in the order in which people count: scan2 before scan10.
#pragma once

#include <filesystem>
#include <string_view>

namespace echolux {

bool is_before_naturally(std::string_view a, std::string_view b);

// By their last names.
inline bool is_before_naturally_named(const std::filesystem::path& a, const std::filesystem::path& b) {
    return is_before_naturally(a.filename().string(), b.filename().string());
}

}  // namespace echolux
