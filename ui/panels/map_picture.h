// A map over the lateral plane inside a panel: A-scans to the right, B-scans downwards, its colours with their numbers
// below.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "render/transfer_function.h"
#include "ui/panels/panel.h"

namespace echolux {

struct MapShown {
    const std::vector<float>& values;  // [b_scan][a_scan], NaN: none
    std::int64_t a_scans, b_scans;
    std::string unit;  // "µm"
};

// The middle 98 % of what is known. Nothing: nothing is.
std::optional<ValueRange> range_of_map(const std::vector<float>& values);

// As wide as the panel; cells of a few pixels are the means of what lies in them. Found by tests under `name`, and the
// bar under `name`.bar.
void draw_map(const PanelContext& context, const char* name, const MapShown& map);

}  // namespace echolux
