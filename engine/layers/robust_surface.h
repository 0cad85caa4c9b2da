// Outliers of a map: what does not lie on the smooth surface that most of its neighbours lie on.
#pragma once

#include <vector>

#include "engine/layers/lateral.h"

namespace echolux {

// At each place a surface of second order is fitted to all within `reach`, by least squares whose weights fall with
// the distance from it (P. W. Holland, R. E. Welsch, Commun. Stat. A6, 813, 1977). What lies further off than `limit`
// is replaced by it.
std::vector<float> without_outliers(const std::vector<float>& map, const MapSize& size, std::int64_t reach,
                                    double limit);

}  // namespace echolux
