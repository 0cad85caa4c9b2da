// Removes outliers of a map: values far from the smooth surface through most of their neighbours.
#pragma once

#include <vector>

#include "engine/layers/lateral.h"

namespace echolux {

// At each position, fits a surface of second order to the values within `reach` by iteratively reweighted least squares
// (P. W. Holland, R. E. Welsch, Commun. Stat. A6, 813, 1977). Values further than `limit` from the surface are replaced
// by it.
std::vector<float> without_outliers(const std::vector<float>& map, const MapSize& size, std::int64_t reach,
                                    double limit);

}  // namespace echolux
