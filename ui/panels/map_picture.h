// Lateral map in a panel: A-scans to the right, B-scans downwards, with a colour bar below.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "render/transfer_function.h"
#include "ui/panels/panel.h"

namespace echolux {

// Map and its size.
struct MapShown {
    const std::vector<float>& values;  // [b_scan][a_scan]; NaN: unknown
    std::int64_t a_scans, b_scans;
    std::string unit;  // "µm"
};

// Returns the 1 and 99 percentiles of the known values, or nullopt without any.
std::optional<ValueRange> range_of_map(const std::vector<float>& values);

// Draws the map at the width of the panel. Cells of a few pixels display the mean of their values. Tests find the map
// under `name` and the bar under `name`.bar.
void draw_map(const PanelContext& context, const char* name, const MapShown& map);

}  // namespace echolux
