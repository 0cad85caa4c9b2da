// A binary file that is written in pieces and appears under its name only when complete.
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
    void close();                                  // passes all data to the operating system
    void commit();                                 // closes and renames the file

  private:
    [[noreturn]] void fail() const;

    std::filesystem::path path_;
    AtomicFile atomic_;
    std::ofstream stream_;
};

}  // namespace echolux
