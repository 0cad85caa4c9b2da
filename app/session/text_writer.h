// Small files written by a thread of their own, in order, each under a temporary name first: the window never waits for
// a slow disk.
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
    ~TextWriter();  // all is written
    TextWriter(const TextWriter&) = delete;
    TextWriter& operator=(const TextWriter&) = delete;

    // Of several that wait for the same file the last one counts.
    void write(const std::filesystem::path& path, std::string text);

    void finish();  // waits until all is written
    bool is_idle() const;

    std::vector<Error> take_problems();

  private:
    struct Waiting {
        std::filesystem::path path;
        std::string text;
    };

    void work(const std::stop_token& stop);

    mutable std::mutex mutex_;  // of what follows
    std::condition_variable_any changed_;
    std::deque<Waiting> waiting_;
    bool is_writing_ = false;
    std::vector<std::exception_ptr> problems_;  // with room for all that waits: also where memory runs out
    std::jthread thread_;                       // begins last, ends first
};

}  // namespace echolux
