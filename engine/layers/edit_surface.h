// Surfaces set by hand: a point is dragged, and the surface around it follows smoothly. It never crosses those above
// and below it: where it would, it lies on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/layers/surfaces.h"

namespace echolux {

// How far from the dragged point the surface follows; 0: not at all.
struct DragReach {
    std::int64_t a_scans = 16, b_scans = 2;
};

// The share of the drag by which a place so far from the dragged point follows: 1 there, 0 beyond the reach, a raised
// cosine between.
double drag_share(std::int64_t distance, std::int64_t reach);

// A place that was set by hand, in one surface.
struct PlaceEdit {
    std::size_t line = 0;  // A-scan
    float row_before = 0, row = 0;
    float quality_before = 0;
    Reason reason_before = Reason::ok;
};

// What a drag of `surface` in one A-scan to `row` makes of it. Nothing where it has no place in that A-scan; places
// that are missing stay missing. Throws Error{bad_setting}: no such surface or A-scan.
std::vector<PlaceEdit> dragged(const Surfaces& surfaces, std::size_t surface, std::int64_t a_scan, std::int64_t b_scan,
                               float row, std::int64_t depth, const DragReach& reach);

// Edited places count as set by somebody: reason ok, quality 0 (nothing was searched).
void apply(Surfaces& surfaces, std::size_t surface, const std::vector<PlaceEdit>& edits);
void take_back(Surfaces& surfaces, std::size_t surface, const std::vector<PlaceEdit>& edits);

}  // namespace echolux
