// Colour maps in whose steps the eye sees equal steps, whether or not it tells red from green: files of colours,
// shipped (assets/colour_maps) or a user's own.
#pragma once

#include <glm/vec3.hpp>
#include <string_view>
#include <vector>

namespace echolux {

// Of evenly spaced levels, the first 0 and the last 1; between two of them it is a straight line. At least two, red,
// green, blue from 0 to 1.
using ColourMap = std::vector<glm::dvec3>;

// The user's file of that name, else the shipped one. Throws Error{bad_file} naming file and line, Error{bad_setting}
// where there is neither.
ColourMap colour_map(std::string_view name);

// For signed speeds: 0.5 is no flow (gray), 0 the fastest one way (blue), 1 the other way (orange).
const ColourMap& flow_map();

// At a level from 0 to 1, beyond which the ends go on.
glm::dvec3 colour_at(const ColourMap& map, double level);

}  // namespace echolux
