// A binary file written piece by piece that appears under its name only when it is complete.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>

#include "engine/io/atomic_file.h"

namespace echolux {

class OutputFile {
  public:
    explicit OutputFile(const std::filesystem::path& path);  // throws Error{output}

    void write(std::span<const std::byte> bytes);  // throws Error{output}: disk full, no permission
    void close();                                  // all is on its way to the disk
    void commit();                                 // closes, renames

  private:
    [[noreturn]] void fail() const;

    std::filesystem::path path_;
    AtomicFile atomic_;
    std::ofstream stream_;
};

}  // namespace echolux
