// Names of files: case, order and parts, and which files a header or a remote client may name.
#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

// Returns the text in lower case, for case-insensitive names of files and keys. ASCII only.
inline std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

// Returns the extension: ".png" for "scan.PNG".
inline std::string lower_ending(const std::filesystem::path& path) {
    return lower_case(path.extension().string());
}

// Returns whether `a` comes before `b` in natural order: scan2 before scan10. Runs of digits compare as numbers.
bool is_before_naturally(std::string_view a, std::string_view b);

// Compares only the last components of the paths.
inline bool is_before_naturally_named(const std::filesystem::path& a, const std::filesystem::path& b) {
    return is_before_naturally(a.filename().string(), b.filename().string());
}

// Selection of one of several pictures in a file, after a colon: scans.mat:volume, dicom_folder:3.
struct FilePart {
    std::filesystem::path file;
    std::string part;  // empty if not given
};

// Splits the path at its last colon. A path that exists as written has no part, even if it contains colons.
FilePart file_part(const std::filesystem::path& path);

// ---- access ---------------------------------------------------------------------------------------------------------
// A header from an unknown source could name any file, and converting it would leak that file's content. Headers may
// therefore only name files beside or below themselves, after following links, and files in folders that the user
// allows.

// Environment variable: further folders for data files, separated by colons.
inline constexpr const char* data_folders_variable = "ECHOLUX_DATA_FOLDERS";

// Returns whether `path`, with links resolved, is `folder` or is below it.
bool is_below(const std::filesystem::path& folder, const std::filesystem::path& path);

// Returns whether `path` is below `folder` or below a folder that the user allows.
bool may_be_named(const std::filesystem::path& folder, const std::filesystem::path& path);

// Returns the path of the regular file `name` that `header` refers to. Throws Error{bad_file} naming both if it is not
// a regular file or is in a folder that is not allowed.
std::filesystem::path named_file(const std::filesystem::path& header, const std::string& name);

// Checks that `path`, a part of the multi-file store `folder`, may be read. Throws Error{bad_file}.
void require_within(const std::filesystem::path& folder, const std::filesystem::path& path);

// Restricts file access by remote clients. A program that is controlled over a network reads and writes only files
// inside these folders, after following symbolic links.
class AllowedFolders {
  public:
    // Resolves the folders to their canonical paths. Relative paths belong in the first one. Throws Error{bad_setting}
    // if one of them is not a folder.
    explicit AllowedFolders(std::vector<std::filesystem::path> folders);

    // Returns the canonical paths of the folders.
    const std::vector<std::filesystem::path>& all() const { return folders_; }

    // Returns `path` as an absolute path, resolving relative paths against the first folder. Throws Error{bad_setting},
    // listing the folders, if the path is outside all of them.
    std::filesystem::path within(const std::filesystem::path& path) const;
    // Returns whether `path`, with links resolved, is inside one of the folders.
    bool hold(const std::filesystem::path& path) const;

  private:
    std::vector<std::filesystem::path> folders_;
};

}  // namespace echolux
