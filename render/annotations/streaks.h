// Streaks along vessels: short lines that move with the blood and are as long as its travel in a short time. Pure
// functions: positions depend on the view alone, so each picture of a movie can be drawn separately.
#pragma once

#include <glm/vec3.hpp>
#include <vector>

#include "render/view/annotations.h"

namespace echolux {

// A straight piece of a streak.
struct StreakPiece {
    glm::dvec3 from, to;    // as points of `flow_streaks`; blood flows from the first to the second
    double axial_mm_s = 0;  // along the beam, positive away from zero delay
};

// Returns the relative speed of the blood at a time: view.streak_pulse, repeated periodically and interpolated
// linearly; 1 for an empty pulse.
double pulse_at(const std::vector<double>& pulse, double time_s);

// Returns the integral of pulse_at() from 0 to `time_s`: the equivalent time at mean speed, in seconds.
double travelled_s(const std::vector<double>& pulse, double time_s);

// Returns the streaks at view.streak_time_s. `streaks` must have been checked.
std::vector<StreakPiece> streak_pieces(const Annotations& streaks);

}  // namespace echolux
