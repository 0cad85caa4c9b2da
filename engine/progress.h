// Interface for progress reports and cancellation of long work. Front ends derive from Progress: a progress bar in a
// terminal, plain lines in a log, a panel in a window. One begin()/end() pair encloses the advance() calls of a task.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace echolux {

class Progress {
  public:
    virtual ~Progress() = default;

    // Starts a task, for example "simulate", 512, "A-scans". `total` 0: unknown.
    virtual void begin(const std::string& task, std::int64_t total, const std::string& unit) = 0;

    // Reports that `count` more units are done. Throws Error{cancelled} if the user wants to stop.
    virtual void advance(std::int64_t count) = 0;

    // Ends the task that begin() started.
    virtual void end() = 0;
};

// Ignores all reports and never cancels.
class SilentProgress : public Progress {
  public:
    void begin(const std::string&, std::int64_t, const std::string&) override {}
    void advance(std::int64_t) override {}
    void end() override {}
};

// ---- Formats progress as text for people.

// Unit of work measured in milliseconds; shown as a duration and without a rate.
inline constexpr const char* unit_of_time = "ms";

// State of a task at one moment.
struct WorkProgress {
    std::int64_t done = 0;
    std::int64_t total = 0;  // 0 if unknown
    std::string unit{};      // "A-scans"
    double seconds = 0;      // since the work began
    // Longer estimates of the remaining time are not shown, so that shown ones never rise: parts of the work may take
    // longer than those before.
    double max_left_s = std::numeric_limits<double>::infinity();
};

// Returns the estimate of the remaining time; std::nullopt while it is unknown.
std::optional<double> seconds_left(const WorkProgress& work);

// Returns a duration as "3.4 s", "42 s", "1 min 05 s" or "2 h 03 min".
std::string duration_words(double seconds);

// Returns an amount as "256 A-scans" or "60 s", or an empty string if the total is unknown.
std::string amount_words(std::int64_t total, const std::string& unit);

// Returns the state of running work as "42 %, 120 rows/s, 3.0 s left", "3 of 8 volumes, 12 s" or "12 of 60 s", and of
// finished work as "done in 8.1 s, 120 rows/s". Rate and remaining time are omitted until they are known.
std::string words_of(const WorkProgress& work);

}  // namespace echolux
