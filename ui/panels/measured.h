// Lengths and angles of what view.distances and view.angles hold, and all of them as a table in text.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace echolux {

// Six numbers: from and to. In the unit of the places.
double length_of(std::span<const double> distance);

// Nine numbers: a place on one leg, the vertex, a place on the other leg. 0 where a leg has no length.
double angle_deg_of(std::span<const double> angle);

// "kind,value,unit,depth_1,a_1,b_1, ..." and a line for each; `unit` of the places.
std::string measurements_csv(const std::vector<double>& distances, const std::vector<double>& angles,
                             const std::string& unit);

}  // namespace echolux
