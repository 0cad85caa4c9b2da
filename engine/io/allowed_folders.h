// Restricts file access by remote clients. A program that is controlled over a network reads and writes only files
// inside these folders, after following symbolic links.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace echolux {

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
