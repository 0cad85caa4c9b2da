// Which temporary names stand on the disk, for a program that has to end at once: results that are being written are
// removed then, as their owners would have done.
#pragma once

#include <filesystem>

namespace echolux {

// From the moment a temporary file or folder is made until it is removed or has its final name.
class UnfinishedName {
  public:
    explicit UnfinishedName(std::filesystem::path path);
    ~UnfinishedName();
    UnfinishedName(const UnfinishedName&) = delete;
    UnfinishedName& operator=(const UnfinishedName&) = delete;

  private:
    std::filesystem::path path_;
};

// Removes everything that has such a name and ends the program without another word; whoever would make one meanwhile
// waits for the end. From any thread that was not interrupted by a signal.
[[noreturn]] void end_without_unfinished_files(int exit_code);

}  // namespace echolux
