// Streaks along vessels: short lines that move with the blood, as long as the way that it goes in a moment. Pure: where
// they lie follows from the view alone, so that every picture of a movie can be drawn by itself.
#pragma once

#include <glm/vec3.hpp>
#include <vector>

#include "render/view/annotations.h"

namespace echolux {

// A straight piece of one.
struct StreakPiece {
    glm::dvec3 from, to;    // as places of `flow_streaks`; blood goes from the first to the second
    double axial_mm_s = 0;  // along the beam, away from zero delay
};

// How fast blood is at a moment, over its mean: of view.streak_pulse, which goes round for ever. None given: 1.
double pulse_at(const std::vector<double>& pulse, double time_s);

// The integral of that from 0 to the moment, in seconds at the mean speed.
double travelled_s(const std::vector<double>& pulse, double time_s);

// At view.streak_time_s. `streaks` has been checked.
std::vector<StreakPiece> streak_pieces(const Annotations& streaks);

}  // namespace echolux
