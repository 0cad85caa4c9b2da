// Files that the header of another program names. A header may come from anybody, and whoever converts it hands on what
// it names: so it names what lies beside or below it, links followed, unless the user says where else data may lie.
#pragma once

#include <filesystem>
#include <string>

namespace echolux {

// Folders, separated by colons, below which headers may name files besides their own.
inline constexpr const char* data_folders_variable = "ECHOLUX_DATA_FOLDERS";

// Whether `path`, links followed, lies in `folder` or below it.
bool lies_below(const std::filesystem::path& folder, const std::filesystem::path& path);

// The same, or below a folder of the user's.
bool may_be_named(const std::filesystem::path& folder, const std::filesystem::path& path);

// The regular file that `header` names. Throws Error{bad_file} naming both: it is none, or lies elsewhere.
std::filesystem::path named_file(const std::filesystem::path& header, const std::string& name);

// The same of a folder that holds what is to be read, for stores of many files. Throws Error{bad_file}.
void require_within(const std::filesystem::path& folder, const std::filesystem::path& path);

}  // namespace echolux
