// How far work is, in words for people: the one place that makes them of counts and seconds.
#pragma once

#include <cstdint>
#include <string>

namespace echolux {

// Unit of work that is counted in milliseconds of time: told as time, and at no rate.
inline constexpr const char* unit_of_time = "ms";

struct WorkDone {
    std::int64_t done = 0;
    std::int64_t total = 0;  // 0: unknown
    std::string unit{};      // "A-scans"
    double seconds = 0;      // since it began
};

// "3.4 s", "42 s", "1 min 05 s", "2 h 03 min".
std::string duration_words(double seconds);

// "256 A-scans", "60 s"; empty: unknown.
std::string amount_words(std::int64_t total, const std::string& unit);

// "42 %, 120 rows/s, 3.0 s left", "3 of 8 volumes, 12 s", "12 of 60 s"; at the end "done in 8.1 s, 120 rows/s". No rate
// and no time left before they are known.
std::string words_of(const WorkDone& work);

}  // namespace echolux
