// Phase of a mirror's fringe along the recorded samples: the analytic signal of the band around its peak, unwrapped
// (docs/algorithms.md 2.4).
#pragma once

#include <span>
#include <vector>

namespace echolux {

inline constexpr const char* no_fringe_remedy =
    "put one mirror into the sample arm, away from zero delay, and take the background without it";

// Unwrapped phase of a fringe, and its frequency.
struct FringePhase {
    std::vector<double> phase_rad;  // [samples], ascending
    double bin = 0;                 // cycles over the spectrum, centre of the band
};

// Returns the phase of `fringe`, the mean spectrum of a mirror without its background, counts [samples], at least 32.
// Throws Error{bad_setting} naming the mirror `name` if no peak exceeds the noise.
FringePhase fringe_phase(std::span<const double> fringe, const char* name);

}  // namespace echolux
