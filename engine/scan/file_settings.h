// Which settings name files or folders, and which of their values do: a word of a setting ("surface") names none.
#pragma once

#include <filesystem>
#include <string>

#include "compute/plan/describe.h"

namespace echolux {

inline bool names_files(const FieldText& field) {
    return field.control.path != PathKind::none;
}

// `folder`: where the name is looked for.
inline bool is_file_name(const FieldText& field, const std::string& value, const std::filesystem::path& folder) {
    if (!names_files(field) || value.empty()) return false;
    std::error_code problem;
    return field.control.path == PathKind::folder || value.find_first_of("/.") != std::string::npos ||
           std::filesystem::exists(folder / value, problem);
}

}  // namespace echolux
