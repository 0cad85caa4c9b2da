// Messages while the program runs: a line with cause and remedy, the part of the window that it concerns, and whether
// it is still pending. The log lists all notices; pending ones have a fixed position in the window.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compute/error.h"

namespace echolux {

// A file that a notice mentions, and the program that displays it.
struct NoticeFile {
    enum class Opener { echolux, desktop };  // desktop: for pictures, movies and tables
    std::filesystem::path path{};            // empty: no file
    Opener opener = Opener::desktop;
};

// A message with its state.
struct Notice {
    std::uint64_t number = 0;
    double time_s = 0;  // since the start of the program
    bool is_problem = true;
    std::string place;       // section of the settings, or "source", "files", "export", "display"; may be empty
    std::string line;        // as from Error::line()
    std::int64_t times = 1;  // number of consecutive repetitions
    bool stands = true;      // pending: not dismissed or settled, and its cause still exists
    std::string topic{};     // a newer notice with the same place and topic replaces this one; empty: never replaced
    NoticeFile file{};
};

class Notices {
  public:
    void report_problem(std::string_view place, const Error& error);
    void report_problem(std::string_view place, std::string_view line, std::string_view topic = "");
    void note(std::string_view place, std::string_view line, NoticeFile file = {});

    // Changes the line of the pending notice with this place and topic, which states a count.
    void restate(std::string_view place, std::string_view topic, std::string_view line);

    // Marks errors of a place as resolved.
    void settle(std::string_view place);
    // Marks all notices of a place as obsolete, because its subject was closed.
    void close(std::string_view place);
    void dismiss(std::uint64_t number);

    // Returns the newest pending error of a place, or nullptr.
    const Notice* standing(std::string_view place) const;
    const Notice* find(std::uint64_t number) const;  // nullptr if it has been removed

    double age_s(const Notice& notice) const;  // since its last repetition

    const std::deque<Notice>& all() const { return notices_; }  // oldest first; at most 1000

  private:
    void add(Notice notice);

    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::deque<Notice> notices_;
    std::uint64_t next_ = 1;
};

}  // namespace echolux
