// Why a result has a value or not. Every tissue analysis attaches a reason to each result, so that no value is invented
// and no omission is silent.
#pragma once

#include <cstdint>
#include <limits>

namespace echolux {

enum class Reason : std::uint8_t {
    ok,
    no_signal,     // nothing exceeds the noise
    ambiguous,     // two answers fit similarly well
    weak_match,    // weak evidence for any answer
    out_of_range,  // at the end of the recorded or searched range, or beyond
    too_few,       // fewer results fit than required
};

// Returns whether there is a value.
constexpr bool has_place(Reason reason) {
    return reason == Reason::ok || reason == Reason::ambiguous;
}

// Returns the name for tables: "no_signal".
constexpr const char* name_of(Reason reason) {
    switch (reason) {
        case Reason::ok: return "ok";
        case Reason::no_signal: return "no_signal";
        case Reason::ambiguous: return "ambiguous";
        case Reason::weak_match: return "weak_match";
        case Reason::out_of_range: return "out_of_range";
        case Reason::too_few: return "too_few";
    }
    return "";
}

// Alignment result of one repeat of a B-scan. Sample (depth row, A-scan) of the repeat corresponds to (row +
// depth_rows, A-scan + a_scans) of the reference repeat.
struct RepeatReport {
    float depth_rows = 0;
    float a_scans = 0;
    float match = 0;  // coherence with the reference in tissue, 0 to 1
    // Decorrelation common to all tissue of the B-scan position, which is subtracted. NaN if unknown.
    float bulk_decorrelation = std::numeric_limits<float>::quiet_NaN();
    Reason reason = Reason::ok;  // if not ok, the repeat is excluded

    bool is_used() const { return reason == Reason::ok; }
};

}  // namespace echolux
