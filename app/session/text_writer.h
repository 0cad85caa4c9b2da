// Writes small files in order on its own thread, each to a temporary name first, so that the window never waits for a
// slow disk.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "compute/error.h"

namespace echolux {

class TextWriter {
  public:
    TextWriter();
    ~TextWriter();  // writes everything
    TextWriter(const TextWriter&) = delete;
    TextWriter& operator=(const TextWriter&) = delete;

    // If several texts wait for the same file, only the last is written.
    void write(const std::filesystem::path& path, std::string text);

    void finish();  // waits until everything is written
    bool is_idle() const;

    std::vector<Error> take_problems();

  private:
    struct Waiting {
        std::filesystem::path path;
        std::string text;
    };

    void work(const std::stop_token& stop);

    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable_any changed_;
    std::deque<Waiting> waiting_;
    bool is_writing_ = false;
    std::vector<std::exception_ptr> problems_;  // capacity reserved, so that errors can be stored when memory runs out
    std::jthread thread_;                       // starts last and ends first
};

}  // namespace echolux
