// Folders that somebody from elsewhere may read from and write to: a program that is steered over a network shows and
// keeps what lies there, links followed, and nothing else.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace echolux {

class AllowedFolders {
  public:
    // The first is where names without a folder of their own belong. Throws Error{bad_setting}: one is no folder.
    explicit AllowedFolders(std::vector<std::filesystem::path> folders);

    const std::vector<std::filesystem::path>& all() const { return folders_; }

    // Whole, below the first folder where it is relative. Throws Error{bad_setting} naming the folders for a path that
    // lies in none of them.
    std::filesystem::path within(const std::filesystem::path& path) const;
    bool hold(const std::filesystem::path& path) const;

  private:
    std::vector<std::filesystem::path> folders_;
};

}  // namespace echolux
