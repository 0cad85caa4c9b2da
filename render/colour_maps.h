// Colour maps in whose steps the eye sees equal steps, whether or not it tells red from green.
#pragma once

#include <glm/vec3.hpp>

namespace echolux {

// In the order of the names of `view.colour_map`.
enum class ColourMap { preset, gray, viridis, magma, inferno, plasma, cividis, flow };

// Red, green, blue from 0 to 1 at a level from 0 to 1, beyond which the ends go on. flow is bipolar: 0.5 is no flow
// (dark), 0 the fastest one way (blue), 1 the other way (orange). `preset` is not a map: it is taken for gray.
glm::dvec3 colour_at(ColourMap map, double level);

// Between two of this many evenly spaced levels, the first 0 and the last 1, a map is a straight line.
inline constexpr int colour_map_nodes = 65;

}  // namespace echolux
