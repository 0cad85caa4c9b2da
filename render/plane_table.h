// Tables of transfer functions over two axes, computed from the curve and its widgets. The largest extinction counts;
// colours are averaged with the extinctions as weights, so the order of widgets does not matter.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "render/transfer_function.h"
#include "shaders/shared/second.h"

namespace echolux {

struct PlaneEntry {
    float extinction;
    std::array<std::uint8_t, 4> colour;
};

struct PlaneTable {
    std::vector<PlaneEntry> entries;  // second_rows rows, one entry per value
    std::vector<float> largest;       // max extinction per value
};

// Returns colour and extinction at a point of the plane. The function must have one.
TransferNode seen_at(const TransferFunction& function, const PlanePoint& at);

// Returns the table for `values` evenly spaced values over the function's range.
PlaneTable plane_table(const TransferFunction& function, int values);

// Returns true if the table affects pictures in this mode.
bool uses_plane(const TransferCurve& curve, ViewMode mode);

}  // namespace echolux
