// The table of a transfer function over two axes, made of its curve and its widgets: the largest extinction counts, and
// colours are mixed by their extinctions, so that the order of widgets plays no part.
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
    std::vector<PlaneEntry> entries;  // second_rows rows of as many as there are values
    std::vector<float> largest;       // extinction of each value
};

// What is seen at a place of the plane, of a function that has one.
TransferNode seen_at(const TransferFunction& function, const PlanePoint& at);

PlaneTable plane_table(const TransferFunction& function, int values);

// Whether the table makes a difference in this mode.
bool uses_plane(const TransferCurve& curve, ViewMode mode);

}  // namespace echolux
