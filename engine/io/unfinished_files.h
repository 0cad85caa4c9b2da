// Registry of temporary files, so that a program that must exit immediately can remove incomplete results.
#pragma once

#include <filesystem>

namespace echolux {

// Registers a temporary path. It exists from creation of the file or folder until it is removed or renamed.
// Thread-safe.
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

}  // namespace echolux
