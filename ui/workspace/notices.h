// Messages of the program while it works: a line with cause and remedy, the part of the window that it concerns,
// and whether it still stands. The log shows all of them; those that stand have a place of their own in the window,
// where they move nothing.
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

// A file that a notice tells of, and who shows it.
struct KeptFile {
    enum class ShownBy { echolux, desktop };  // the desktop: pictures, movies, tables
    std::filesystem::path path{};             // empty: none
    ShownBy shown_by = ShownBy::desktop;
};

struct Notice {
    std::uint64_t number = 0;
    double time_s = 0;  // since the program began
    bool is_trouble = true;
    std::string place;       // section of the settings, or "source", "files", "export", "display"; "": none
    std::string line;        // as Error::line()
    std::int64_t times = 1;  // in a row
    bool stands = true;      // not dismissed, not overcome, and its cause is still there
    std::string topic{};     // one of the same place and topic takes the place of this one; empty: it stands alone
    KeptFile file{};
};

class Notices {
  public:
    void trouble(std::string_view place, const Error& error);
    void trouble(std::string_view place, std::string_view line, std::string_view topic = "");
    void note(std::string_view place, std::string_view line, KeptFile file = {});

    // Trouble of that place is overcome.
    void settle(std::string_view place);
    // What the place was about is closed: nothing that was said of it stands.
    void close(std::string_view place);
    void dismiss(std::uint64_t number);

    // Newest trouble of a place that still stands; nullptr: none.
    const Notice* standing(std::string_view place) const;
    const Notice* find(std::uint64_t number) const;  // nullptr: not there any more

    double age_s(const Notice& notice) const;  // since it came last

    const std::deque<Notice>& all() const { return notices_; }  // oldest first, the last thousand

  private:
    void add(Notice notice);

    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::deque<Notice> notices_;
    std::uint64_t next_ = 1;
};

}  // namespace echolux
