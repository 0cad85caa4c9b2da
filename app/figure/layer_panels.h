// Surfaces in figures: drawn into a B-scan, and maps of thickness or brightness in colours with their bar.
#pragma once

#include <string>
#include <vector>

#include "app/figure/figure_page.h"
#include "engine/layers/surfaces.h"

namespace echolux {

// The B-scan in gray with a line for each surface, whose names stand above it from above.
FigurePanel layered_b_scan_panel(const Volume& volume, std::int64_t b_scan, const Surfaces& surfaces,
                                 const FigureStyle& style);

// [b_scan][a_scan] in the colours of viridis, seen as the en-face panel; what has no value is gray.
FigurePanel map_panel(const std::vector<float>& map, const VolumeGrid& grid, const std::string& heading,
                      const std::string& unit, const FigureStyle& style);

}  // namespace echolux
