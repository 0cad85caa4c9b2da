// Files and folders that appear under their final name only when complete and on disk. Data is written to a temporary
// name in the same folder, flushed, and renamed; then the folder is flushed. After a power cut either the old or the
// new result exists, never a name without its data (T. S. Pillai et al., OSDI 2014).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace echolux {

// ---- temporary names ------------------------------------------------------------------------------------------------

// Registers a temporary path, so that a program that must exit immediately can remove incomplete results. It exists
// from creation of the file or folder until it is removed or renamed. Thread-safe.
class UnfinishedName {
  public:
    explicit UnfinishedName(std::filesystem::path path);
    ~UnfinishedName();
    UnfinishedName(const UnfinishedName&) = delete;
    UnfinishedName& operator=(const UnfinishedName&) = delete;

  private:
    std::filesystem::path path_;
};

// Removes all registered files and folders and ends the program with _exit(). Threads that register another name block
// until the end. Must not be called from a signal handler.
[[noreturn]] void end_without_unfinished_files(int exit_code);

// ---- files and folders ----------------------------------------------------------------------------------------------

// A file that replaces an older one atomically. Without commit() the old file stays unchanged.
class AtomicFile {
  public:
    // Creates the temporary file, and its folder as make_folder_for() does. A folder created here is removed if nothing
    // is committed. Throws Error{output} if the folder is not writable, or if the path is a folder or a special file.
    explicit AtomicFile(std::filesystem::path final_path);
    ~AtomicFile();  // removes the temporary file unless committed
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    // Path to write to: in the same folder, with the same extensions so that libraries recognise the format.
    const std::filesystem::path& temporary() const { return temporary_; }

    // Flushes the file, renames it and flushes its folder. Returns false if the folder cannot be flushed, as
    // make_durable(). Throws Error{output}: then the old file is still there, unless only flushing the folder failed,
    // in which case the new file is complete.
    bool commit();

  private:
    std::filesystem::path final_;
    std::filesystem::path temporary_;
    UnfinishedName unfinished_{temporary_};
    bool made_folder_ = false;
    bool committed_ = false;
};

// A folder that replaces an older one atomically. An existing non-empty folder is replaced only if `is_ours` recognises
// it as such a result, so that files of other programs are never removed.
class AtomicFolder {
  public:
    // Throws Error{output} if the folder holds other files or cannot be created.
    AtomicFolder(std::filesystem::path final_path, bool (*is_ours)(const std::filesystem::path&));
    ~AtomicFolder();  // removes the temporary folder and its contents unless committed
    AtomicFolder(const AtomicFolder&) = delete;
    AtomicFolder& operator=(const AtomicFolder&) = delete;

    // Path of the folder to write files to.
    const std::filesystem::path& temporary() const { return temporary_; }

    // Flushes all files and renames the folder. The exchange with the old folder is atomic if the file system supports
    // it. Throws Error{output}.
    void commit();

  private:
    void take_name();
    void replace_by_two_steps();

    std::filesystem::path final_;
    std::filesystem::path temporary_;
    UnfinishedName unfinished_{temporary_};
    bool made_folder_ = false;  // of the parent of final_
};

// Flushes the file, or the folder with the names in it, to disk. Returns false if the file system cannot flush it; some
// network drives cannot flush folders. Throws Error{output}.
bool make_durable(const std::filesystem::path& path);

// Creates the parent folder of `path` if only the last part of its name is missing. Deeper paths are refused, so that
// an unmounted disk or a typing error does not create folders on the root disk. Returns whether the folder was missing.
// Throws Error{output}.
bool make_folder_for(const std::filesystem::path& path);

// Creates all missing parent folders of `path`. Intended for folders that belong to the program itself. Throws
// Error{output}.
void make_folders_for(const std::filesystem::path& path);

// Throws the Error{output} that make_folder_for() would throw for a missing grandparent folder, without creating
// anything.
void check_folder_for(const std::filesystem::path& path);

// Writes a small text file atomically. Returns and throws as AtomicFile::commit().
bool write_text(const std::filesystem::path& path, std::string_view text);

// Checks before long work that `path` can be written: creates and removes a temporary file. Throws the Error{output}
// that AtomicFile would throw.
void check_can_be_written(const std::filesystem::path& path);

// ---- streams --------------------------------------------------------------------------------------------------------

// A binary file that is written in pieces and appears under its name only when complete.
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

// A file that is written sequentially, with positions that can be overwritten later. All errors are Error{output} and
// name the result that the user requested.
class ResultFile {
  public:
    // Creates the file. `where` is the name in error messages.
    ResultFile(const std::filesystem::path& path, std::string where);

    std::int64_t place() const { return place_; }  // offset of the next byte

    void write(std::span<const std::byte> bytes);
    void write(const std::string& bytes) { write(std::as_bytes(std::span(bytes))); }

    // Overwrites bytes that were written before.
    void write_at(std::int64_t place, std::span<const std::byte> bytes);

    // Flushes and closes the file.
    void finish();

  private:
    [[noreturn]] void fail() const;

    std::ofstream stream_;
    std::string where_;
    std::int64_t place_ = 0;
};

// A file in the folder for temporary files (TMPDIR) that is removed with its owner.
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
