// Surfaces in figures: drawn into a B-scan, and coloured maps of thickness or brightness with a colour bar.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/figure/figure_page.h"
#include "engine/layers/layers.h"

namespace echolux {

// A grey B-scan with a line per surface. The names are listed above, from top to bottom.
FigurePanel layered_b_scan_panel(const Volume& volume, std::int64_t b_scan, const Surfaces& surfaces,
                                 const FigureStyle& style);

// A map over the lateral plane.
struct LayerMap {
    const std::vector<float>& values;            // [b_scan][a_scan]; NaN: missing
    const std::vector<std::uint8_t>& ambiguous;  // 1: ambiguous, drawn hatched; empty: no value is ambiguous
    std::string heading, unit;
};

// Returns the map in viridis colours, oriented like the en face panel. Missing values are grey. The heading states the
// share of hatched values.
FigurePanel map_panel(const LayerMap& map, const VolumeGrid& grid, const FigureStyle& style);

}  // namespace echolux
