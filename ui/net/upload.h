// A file that comes over the net: under a name of its own in the one folder for such files, whole or not at all.
// Written by one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>

#include "engine/io/atomic_file.h"

namespace echolux {

class Upload {
  public:
    // `name` as plain_file_name() returns it. What is there already stays: then it is called "name-2.ext".
    Upload(const std::filesystem::path& folder, const std::string& name);
    ~Upload();
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;

    void write(std::span<const char> bytes);  // throws Error{output}
    void finish();                            // throws Error{output}
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
    std::unique_ptr<AtomicFile> file_;
    std::ofstream stream_;
};

}  // namespace echolux
