// Perceptually uniform colour maps that are also readable for colour-blind users. They are files of colours, shipped
// (assets/colour_maps) or user-defined.
#pragma once

#include <glm/vec3.hpp>
#include <string_view>
#include <vector>

namespace echolux {

// Two or more colours (RGB, 0 to 1) at evenly spaced levels from 0 to 1, interpolated linearly.
using ColourMap = std::vector<glm::dvec3>;

// Loads a user-defined or else a shipped colour map. Throws Error{bad_file} with file and line, Error{bad_setting} if
// neither exists.
ColourMap colour_map(std::string_view name);

// Returns the map for signed speeds: 0.5 is rest (gray), 0 and 1 are the fastest flow in either direction (blue,
// orange).
const ColourMap& flow_map();

// Returns the colour at a level, clamped to [0, 1].
glm::dvec3 colour_at(const ColourMap& map, double level);

}  // namespace echolux
