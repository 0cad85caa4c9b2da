// Why a result has a value or not. Every tissue analysis attaches a reason to each result, so that no value is invented
// and no omission is silent.
#pragma once

#include <cstdint>

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

}  // namespace echolux
