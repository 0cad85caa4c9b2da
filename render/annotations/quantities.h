// Round numbers, and numbers with conventional units.
#pragma once

#include <glm/vec3.hpp>
#include <string>
#include <vector>

namespace echolux {

// Returns the largest number 1, 2 or 5 times a power of ten that is at most `limit`. `limit` must be positive.
double round_below(double limit);

struct Tick {
    double value;
    std::string text;  // with the decimals that the step needs
};

// Returns the multiples of a round step between low and high, at most `max_ticks` of them. The step is at least
// `finest`.
std::vector<Tick> ticks_between(double low, double high, int max_ticks, double finest = 0);

struct LengthUnit {
    double um;  // um per unit
    const char* name;
};

// Returns the unit from nm to cm in which such a length is usually written.
LengthUnit unit_for(double length_um);

// Formats a length: "350 nm", "20 µm", "1.5 mm", "2 cm", or "12 voxels" if lengths are not in micrometres.
std::string length_text(double length, bool is_um);

// Returns the distance in the unit of the points.
double distance_um(const glm::dvec3& from, const glm::dvec3& to);

// Returns the angle at the vertex in [0, 180] degrees; 0 if a leg has no length.
double angle_deg(const glm::dvec3& leg, const glm::dvec3& vertex, const glm::dvec3& other_leg);

}  // namespace echolux
