// Manual editing of surfaces: when a point is dragged, the surface around it follows smoothly. A surface never crosses
// its neighbours above and below, but stops at them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/layers/surfaces.h"

namespace echolux {

// Distance over which the surface follows the dragged point; 0: only the point itself.
struct DragReach {
    std::int64_t a_scans = 16, b_scans = 2;
};

// Returns the share of the drag at a distance from the dragged point: 1 at the point, 0 beyond the reach, a raised
// cosine in between.
double drag_share(std::int64_t distance, std::int64_t reach);

// A manual change of one surface in one A-scan.
struct PlaceEdit {
    std::size_t line = 0;  // A-scan
    float row_before = 0, row = 0;
    float quality_before = 0;
    Reason reason_before = Reason::ok;
};

// Returns the changes of dragging `surface` to `row` in one A-scan. Empty if the surface has no position in that
// A-scan. Missing positions stay missing. Throws Error{bad_setting} if the surface or A-scan does not exist.
std::vector<PlaceEdit> dragged(const Surfaces& surfaces, std::size_t surface, std::int64_t a_scan, std::int64_t b_scan,
                               float row, std::int64_t depth, const DragReach& reach);

// apply() sets the edited positions with reason ok and quality 0, because nothing was searched. take_back() restores
// the previous state.
void apply(Surfaces& surfaces, std::size_t surface, const std::vector<PlaceEdit>& edits);
void take_back(Surfaces& surfaces, std::size_t surface, const std::vector<PlaceEdit>& edits);

}  // namespace echolux
