// Recognises settings that name files or folders. Some of these also accept words ("surface") that do not name a file.
#pragma once

#include <filesystem>
#include <string>

#include "compute/plan/describe.h"

namespace echolux {

// Returns whether values of the field can be file names.
inline bool names_files(const FieldText& field) {
    return field.control.path != PathKind::none;
}

// Returns whether `value` is the name of a file or folder and not a word. Relative names are looked up in `folder`.
inline bool is_file_name(const FieldText& field, const std::string& value, const std::filesystem::path& folder) {
    if (!names_files(field) || value.empty()) return false;
    std::error_code problem;
    return field.control.path == PathKind::folder || value.find_first_of("/.") != std::string::npos ||
           std::filesystem::exists(folder / value, problem);
}

}  // namespace echolux
