// A result appears under its name only when it is complete and on the disk: work goes to a temporary name in the same
// folder. Its bytes are flushed before they get their name and the folder afterwards, so that a power cut leaves the
// old result or the new one, never a name without its bytes (T. S. Pillai et al., OSDI 2014).
#pragma once

#include <filesystem>
#include <string_view>

#include "engine/io/unfinished_files.h"

namespace echolux {

class AtomicFile {
  public:
    // Creates a missing folder as make_folder_for() does; where nothing is committed, it goes again. Throws
    // Error{output} when the folder cannot be written.
    explicit AtomicFile(std::filesystem::path final_path);
    ~AtomicFile();  // removes the temporary file unless committed
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    // Same folder, keeps the extension(s) so that libraries recognise the format.
    const std::filesystem::path& temporary() const { return temporary_; }

    // Flushes, renames, flushes the folder; as make_durable(). Throws Error{output}: the old file is there then, or the
    // new one, whole, where only its folder could not be flushed.
    bool commit();

  private:
    std::filesystem::path final_;
    std::filesystem::path temporary_;
    UnfinishedName unfinished_{temporary_};
    bool made_folder_ = false;
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

    // Flushes all that is in it and renames; the old folder gives way in the same moment where the file system can do
    // that. Throws Error{output}.
    void commit();

  private:
    void take_name();
    void replace_by_two_steps();

    std::filesystem::path final_;
    std::filesystem::path temporary_;
    UnfinishedName unfinished_{temporary_};
    bool made_folder_ = false;  // which final_ lies in
};

// A file, or a folder with the names in it, is on the disk. False: the file system has no such thing as flushing it,
// which some network drives say of folders. Throws Error{output}.
bool make_durable(const std::filesystem::path& path);

// The folder that `path` goes into, where only the last part of its name is missing: a disk that is not mounted, or a
// name that is misspelt, does not become a folder of the root disk. Whether it was missing. Throws Error{output}.
bool make_folder_for(const std::filesystem::path& path);

// The same, however many parts are missing: for folders of the program's own.
void make_folders_for(const std::filesystem::path& path);

// Whether make_folder_for() would: the same Error, and nothing is made.
void check_folder_for(const std::filesystem::path& path);

// A small file, whole or not at all; as AtomicFile::commit(). Throws Error{output}.
bool write_text(const std::filesystem::path& path, std::string_view text);

// Before long work: throws what writing `path` would throw at its end. Leaves nothing.
void check_can_be_written(const std::filesystem::path& path);

}  // namespace echolux
