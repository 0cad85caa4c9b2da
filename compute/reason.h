// Why there is a value, or none: what every stage that finds something in tissue says of each of its results, so that
// nothing is ever made up and nothing is left out in silence.
#pragma once

#include <cstdint>

namespace echolux {

enum class Reason : std::uint8_t {
    ok,
    no_signal,     // nothing stands out from the noise
    ambiguous,     // two answers fit about as well
    weak_match,    // hardly anything speaks for any answer
    out_of_range,  // it lies at the end of what was recorded or looked at, or beyond
    too_few,       // fewer results fit than are needed
};

// Whether there is a value.
constexpr bool has_place(Reason reason) {
    return reason == Reason::ok || reason == Reason::ambiguous;
}

// As tables spell it: "no_signal".
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
