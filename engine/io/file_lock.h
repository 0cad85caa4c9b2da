// Advisory locks (flock) between programs that write the same files. A recording holds a lock on its spectra and its
// index for as long as it runs. The kernel releases locks when their process ends, also after kill -9.
#pragma once

#include <filesystem>

namespace echolux {

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
