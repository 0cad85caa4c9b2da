// Formats progress as text for people.
#pragma once

#include <cstdint>
#include <string>

namespace echolux {

// Unit of work measured in milliseconds; shown as a duration and without a rate.
inline constexpr const char* unit_of_time = "ms";

// State of a task at one moment.
struct WorkDone {
    std::int64_t done = 0;
    std::int64_t total = 0;  // 0 if unknown
    std::string unit{};      // "A-scans"
    double seconds = 0;      // since the work began
};

// Returns a duration as "3.4 s", "42 s", "1 min 05 s" or "2 h 03 min".
std::string duration_words(double seconds);

// Returns an amount as "256 A-scans" or "60 s", or an empty string if the total is unknown.
std::string amount_words(std::int64_t total, const std::string& unit);

// Returns the state of running work as "42 %, 120 rows/s, 3.0 s left", "3 of 8 volumes, 12 s" or "12 of 60 s", and of
// finished work as "done in 8.1 s, 120 rows/s". Rate and remaining time are omitted until they are known.
std::string words_of(const WorkDone& work);

}  // namespace echolux
