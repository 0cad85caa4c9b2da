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
    out_of_range,  // it lies at the end of what was recorded, or beyond
};

// Whether there is a value.
constexpr bool has_place(Reason reason) {
    return reason == Reason::ok || reason == Reason::ambiguous;
}

const char* name_of(Reason reason);  // as tables spell it: "no_signal"

}  // namespace echolux
