// Round numbers, and numbers with units as people write them.
#pragma once

#include <glm/vec3.hpp>
#include <string>
#include <vector>

namespace echolux {

// The largest of ..., 0.1, 0.2, 0.5, 1, 2, 5, 10, ... that is not above `limit`, which is above zero.
double round_below(double limit);

struct Tick {
    double value;
    std::string text;  // with as many decimals as the step needs
};

// Multiples of a round step from low to high, at most `max_ticks` of them; the step is at least `finest`.
std::vector<Tick> ticks_between(double low, double high, int max_ticks, double finest = 0);

struct LengthUnit {
    double um;  // in one of it
    const char* name;
};

// The unit from nm to cm in which people write such a length.
LengthUnit unit_for(double length_um);

// "350 nm", "20 µm", "1.5 mm", "2 cm"; "12 voxels" where lengths are not known to be micrometres.
std::string length_text(double length, bool is_um);

// Lengths between places, in their unit.
double distance_um(const glm::dvec3& from, const glm::dvec3& to);

// At the vertex, 0 to 180; 0 where a leg has no length.
double angle_deg(const glm::dvec3& leg, const glm::dvec3& vertex, const glm::dvec3& other_leg);

}  // namespace echolux
