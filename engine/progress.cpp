#include "engine/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/plural.h"

namespace echolux {
namespace {

// Below this total, units may differ too much in size for a meaningful rate or remaining time.
constexpr std::int64_t few = 20;
constexpr double too_short_s = 0.2;  // before this, a rate is not meaningful

// Returns a rate with a suitable number of digits: "1.25 M", "34 k", "120", "3.4".
std::string rate_words(double per_second) {
    if (per_second >= 1e6) return fmt::format("{:.2f} M", per_second / 1e6);
    if (per_second >= 1e4) return fmt::format("{:.0f} k", per_second / 1e3);
    return per_second >= 9.5 ? fmt::format("{:.0f}", per_second) : fmt::format("{:.1f}", per_second);
}

// Percentages, durations and very short or unstarted work have no meaningful rate.
bool has_rate(const WorkProgress& work) {
    return work.done > 0 && work.seconds >= too_short_s && !work.unit.empty() && work.unit != "%" &&
           work.unit != unit_of_time;
}

// Returns the text for finished work.
std::string ended(const WorkProgress& work) {
    const std::string text = "done in " + duration_words(work.seconds);
    if (!has_rate(work) || work.total < few) return text;
    return fmt::format("{}, {} {}/s", text, rate_words(static_cast<double>(work.done) / work.seconds), work.unit);
}

}  // namespace

std::string duration_words(double seconds) {
    if (seconds < 9.95) return fmt::format("{:.1f} s", std::max(seconds, 0.0));
    const auto whole = static_cast<std::int64_t>(std::llround(seconds));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string amount_words(std::int64_t total, const std::string& unit) {
    if (total <= 0 || unit.empty()) return "";
    if (unit == unit_of_time) return duration_words(1e-3 * static_cast<double>(total));
    return plural(total, unit);
}

std::optional<double> seconds_left(const WorkProgress& work) {
    const bool is_known = work.done > 0 && work.done < work.total && work.seconds >= too_short_s;
    if (!is_known) return {};
    return work.seconds * static_cast<double>(work.total - work.done) / static_cast<double>(work.done);
}

std::string words_of(const WorkProgress& work) {
    const bool is_time = work.unit == unit_of_time;
    const auto done = static_cast<double>(work.done), total = static_cast<double>(work.total);
    if (work.total <= 0) return duration_words(work.seconds);
    if (work.done >= work.total) return ended(work);
    if (is_time) return fmt::format("{} of {}", duration_words(1e-3 * done), duration_words(1e-3 * total));
    if (work.total < few && work.unit != "%") {
        return fmt::format("{} of {}, {}", work.done, plural(work.total, work.unit), duration_words(work.seconds));
    }
    std::string text = fmt::format("{:.0f} %", std::floor(100 * done / total));
    if (has_rate(work)) text += fmt::format(", {} {}/s", rate_words(done / work.seconds), work.unit);
    const std::optional<double> left_s = seconds_left(work);
    if (left_s && *left_s <= work.max_left_s) text += ", " + duration_words(*left_s) + " left";
    return text;
}

}  // namespace echolux
