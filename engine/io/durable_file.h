// Files that grow during an experiment, with a known amount of data that survives a power cut, and their locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "compute/voxel_target.h"

namespace echolux {

// An interface, so that tests can simulate full, slow or failing disks.
class DurableFile {
  public:
    virtual ~DurableFile() = default;

    // Writes `bytes` at byte `place`, which must not be before the end of the last successful write. Gaps read as
    // zeros. The data survives the end of this program as soon as the call returns, and a power cut after the next
    // sync(). Throws Error{output}; the file may then contain part of the data and still accepts further writes.
    virtual void write(std::int64_t place, std::span<const std::byte> bytes) = 0;

    // Allocates disk space up to byte `end` without changing the file's length. Returns false if the allocation is
    // unsupported, or if it would leave less free space than it takes.
    virtual bool reserve(std::int64_t end) = 0;

    // Flushes all written data to disk. Throws Error{output}.
    virtual void sync() = 0;

    // Sets the length to `size` bytes and releases disk space beyond it. Throws Error{output}.
    virtual void end_at(std::int64_t size) = 0;
};

// Writes at disk speed, bypassing the page cache (O_DIRECT) if the file system supports it. Then gigabytes per second
// do not fill the memory and do not stall when the kernel flushes dirty pages. Direct writes need whole pages in
// aligned memory. Other blocks go through a staging buffer. The last page is padded with zeros and rewritten when more
// data follows.
class DirectFile final : public DurableFile {
  public:
    enum class Caching { none, system };  // none: direct writes, falling back to `system` if unsupported

    // Creates a new file and locks it until it is closed. Throws Error{output} if it already exists or cannot be
    // created.
    DirectFile(const std::filesystem::path& path, Caching caching);
    ~DirectFile() override;
    DirectFile(const DirectFile&) = delete;
    DirectFile& operator=(const DirectFile&) = delete;

    void write(std::int64_t place, std::span<const std::byte> bytes) override;
    bool reserve(std::int64_t end) override;
    void sync() override;
    void end_at(std::int64_t size) override;

    // Whether writes bypass the page cache. Becomes false if the file system rejects direct writes.
    bool is_direct() const { return is_direct_; }

  private:
    void write_pages(std::int64_t place, std::span<const std::byte> bytes);
    void write_all(std::int64_t place, std::span<const std::byte> bytes);
    void write_through_cache();
    [[noreturn]] void fail(const char* what) const;

    std::string path_;
    int descriptor_ = -1;
    bool is_direct_ = false;
    std::int64_t end_ = 0;       // end of the last successful write
    std::int64_t reserved_ = 0;  // disk space is allocated up to here
    BlockMemory staging_;        // for direct writes
    BlockMemory last_page_;      // content of the last page, if end_ is within a page
};

// ---- locks ----------------------------------------------------------------------------------------------------------
// Advisory locks (flock) between programs that write the same files. A recording holds a lock on its spectra and its
// index for as long as it runs. The kernel releases locks when their process ends, also after kill -9.

// Locks an open file exclusively until its descriptor is closed. Waits up to 5 s for another holder. Returns false if
// the lock is still held then, or if the file system does not support locks.
bool lock_file(int descriptor) noexcept;

// Returns whether any process, including this one, holds an exclusive lock on the file. False if it cannot be opened or
// is a folder.
bool is_locked(const std::filesystem::path& path) noexcept;

// Returns whether the file belongs to a running recording: it is locked, or it is the TOML file of locked spectra.
bool is_being_recorded(const std::filesystem::path& path);

// Throws Error{output} if is_being_recorded().
void refuse_running_recording(const std::filesystem::path& path);

// Locks a folder while one writer prepares or removes the files of a recording in it. Without effect if the folder
// cannot be locked (some network drives, or the user's own `flock FOLDER`); the exclusive creation of the spectra then
// decides between two recorders.
class FolderTurn {
  public:
    explicit FolderTurn(const std::filesystem::path& file_in_it) noexcept;
    ~FolderTurn();
    FolderTurn(const FolderTurn&) = delete;
    FolderTurn& operator=(const FolderTurn&) = delete;

  private:
    int descriptor_ = -1;
};

}  // namespace echolux
