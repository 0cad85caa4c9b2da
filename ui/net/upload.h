// Receives an uploaded file into the upload folder under an unused name. The file appears only when complete. For use
// by one thread.
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
    // `name` must come from plain_file_name(). If it is in use, the file is named "name-2.ext" and so on.
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
