// A result appears under its name only when it is complete: work goes to a temporary name in the same folder.
#pragma once

#include <filesystem>

namespace echolux {

class AtomicFile {
  public:
    // Creates missing parent folders. Throws Error{output} when the folder cannot be written.
    explicit AtomicFile(std::filesystem::path final_path);
    ~AtomicFile();  // removes the temporary file unless committed
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    // Same folder, keeps the extension(s) so that libraries recognise the format.
    const std::filesystem::path& temporary() const { return temporary_; }

    // Renames. Throws Error{output}.
    void commit();

  private:
    std::filesystem::path final_;
    std::filesystem::path temporary_;
    bool committed_ = false;
};

// Before long work: throws what writing `path` would throw at its end. Leaves nothing but the folder.
void check_can_be_written(const std::filesystem::path& path);

}  // namespace echolux
