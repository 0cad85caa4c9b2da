// Access to files that a header names. A header from an unknown source could name any file, and converting it would
// leak that file's content. So headers may only name files beside or below themselves, after following links, and files
// in folders that the user allows.
#pragma once

#include <filesystem>
#include <string>

namespace echolux {

// Environment variable: further folders for data files, separated by colons.
inline constexpr const char* data_folders_variable = "ECHOLUX_DATA_FOLDERS";

// Returns whether `path`, with links resolved, is `folder` or is below it.
bool lies_below(const std::filesystem::path& folder, const std::filesystem::path& path);

// Returns whether `path` is below `folder` or below a folder that the user allows.
bool may_be_named(const std::filesystem::path& folder, const std::filesystem::path& path);

// Returns the path of the regular file `name` that `header` refers to. Throws Error{bad_file} naming both if it is not
// a regular file or is in a folder that is not allowed.
std::filesystem::path named_file(const std::filesystem::path& header, const std::string& name);

// Checks that `path`, a part of the multi-file store `folder`, may be read. Throws Error{bad_file}.
void require_within(const std::filesystem::path& folder, const std::filesystem::path& path);

}  // namespace echolux
