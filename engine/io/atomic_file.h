// A result appears under its name only when it is complete: work goes to a temporary name in the same folder.
#pragma once

#include <filesystem>
#include <string_view>

#include "engine/io/unfinished_files.h"

namespace echolux {

class AtomicFile {
  public:
    // Creates a missing folder as make_folder_for() does. Throws Error{output} when the folder cannot be written.
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
    UnfinishedName unfinished_{temporary_};
    bool committed_ = false;
};

// The same for a result that is a folder. What stands there is replaced only if `is_ours` says that it is such a
// result: nobody's other files are removed.
class AtomicFolder {
  public:
    // Throws Error{output}.
    AtomicFolder(std::filesystem::path final_path, bool (*is_ours)(const std::filesystem::path&));
    ~AtomicFolder();  // removes the temporary folder with all that is in it unless committed
    AtomicFolder(const AtomicFolder&) = delete;
    AtomicFolder& operator=(const AtomicFolder&) = delete;

    const std::filesystem::path& temporary() const { return temporary_; }

    // Renames; the old folder gives way in the same moment where the file system can do that. Throws Error{output}.
    void commit();

  private:
    void replace_by_two_steps();

    std::filesystem::path final_;
    std::filesystem::path temporary_;
    UnfinishedName unfinished_{temporary_};
};

// The folder that `path` goes into, where only the last part of its name is missing: a disk that is not mounted, or a
// name that is misspelt, does not become a folder of the root disk. Throws Error{output}.
void make_folder_for(const std::filesystem::path& path);

// Whether it would: the same Error, and nothing is made.
void check_folder_for(const std::filesystem::path& path);

// A small file, whole or not at all. Throws Error{output}.
void write_text(const std::filesystem::path& path, std::string_view text);

// Before long work: throws what writing `path` would throw at its end. Leaves nothing but the folder.
void check_can_be_written(const std::filesystem::path& path);

}  // namespace echolux
