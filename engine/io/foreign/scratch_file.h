// A file in the folder for temporary files (TMPDIR) that is removed with its owner.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>

#include "engine/io/unfinished_files.h"

namespace echolux {

class ScratchFile {
  public:
    // Creates the file. Errors name `where`. Throws Error{output} if it cannot be created or if `bytes` bytes do not
    // fit on the disk.
    ScratchFile(std::int64_t bytes, std::string where);
    ~ScratchFile();
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;

    const std::filesystem::path& path() const { return path_; }

    void append(std::span<const std::byte> bytes);  // throws Error{output}
    void close();                                   // flushes after the last append(); throws Error{output}

  private:
    [[noreturn]] void fail(const std::string& what) const;

    std::string where_;
    std::filesystem::path path_;
    std::optional<UnfinishedName> unfinished_;  // its folder
    std::ofstream stream_;
};

}  // namespace echolux
