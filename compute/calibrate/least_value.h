// Least values of functions without derivatives: along a line by a grid and a golden section, and in a plane by the
// simplex of J. Nelder and R. Mead (Computer Journal 7, 1965).
#pragma once

#include <array>
#include <functional>
#include <vector>

namespace echolux {

// Values of a function at many places: those that do not depend on each other are asked for at once.
using ValuesAt = std::function<std::vector<double>(const std::vector<double>&)>;

// Of f in centre - range .. centre + range: a grid of 41 points at once, then a golden section between the neighbours
// of the best. 56 values.
double min_along(const ValuesAt& f, double centre, double range);

struct Minimum {
    std::array<double, 2> place{};
    double value = 0;
};

// The nearest minimum of f, beginning with steps of `step`; to a ten-thousandth of them, or 120 calls.
Minimum min_nearby(const std::function<double(double, double)>& f, const std::array<double, 2>& start, double step);

}  // namespace echolux
