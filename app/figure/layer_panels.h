// Surfaces in figures: drawn into a B-scan, and coloured maps of thickness or brightness with a colour bar.
#pragma once

#include <string>
#include <vector>

#include "app/figure/figure_page.h"
#include "engine/layers/surfaces.h"

namespace echolux {

// A grey B-scan with a line per surface. The names are listed above, from top to bottom.
FigurePanel layered_b_scan_panel(const Volume& volume, std::int64_t b_scan, const Surfaces& surfaces,
                                 const FigureStyle& style);

// [b_scan][a_scan] in viridis colours, oriented like the en face panel. Missing values are grey.
FigurePanel map_panel(const std::vector<float>& map, const VolumeGrid& grid, const std::string& heading,
                      const std::string& unit, const FigureStyle& style);

}  // namespace echolux
