// A folder for temporary files.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "compute/error.h"
#include "engine/io/atomic_file.h"

namespace echolux {

// Removed with its owner. Throws Error{output} if it cannot be made.
class ScratchFolder {
  public:
    ScratchFolder() {
        std::error_code problem;
        std::string name = (std::filesystem::temp_directory_path(problem) / "echolux-XXXXXX").string();
        if (problem || mkdtemp(name.data()) == nullptr)
            throw Error(ErrorCode::output, "no temporary folder can be made", name, "set TMPDIR to one with room");
        unfinished_.emplace(name);
        path_ = name;
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
    std::optional<UnfinishedName> unfinished_;
};

}  // namespace echolux
