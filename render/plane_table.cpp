#include "render/plane_table.h"

#include <algorithm>
#include <cmath>

namespace echolux {
namespace {

PlaneReach reach_of(const TransferFunction& function) {
    return {function.range.low, function.range.high, function.plane->from, function.plane->to};
}

// Combines the curve's node with all widgets at a point of the plane.
TransferNode mixed(const TransferNode& base, const std::vector<TransferWidget>& widgets, const PlanePoint& at,
                   const PlaneReach& reach) {
    TransferNode node = base;
    double sum = base.extinction;
    std::array<double, 3> colour{sum * base.red, sum * base.green, sum * base.blue};
    for (const TransferWidget& widget : widgets) {
        const double extinction = widget.extinction * weight_at(widget, at, reach);
        if (extinction <= 0) continue;
        node.extinction = std::max(node.extinction, extinction);
        sum += extinction;
        for (std::size_t i = 0; i < 3; ++i) colour[i] += extinction * widget.colour[i];
    }
    if (sum == base.extinction) return node;
    node.red = colour[0] / sum;
    node.green = colour[1] / sum;
    node.blue = colour[2] / sum;
    return node;
}

}  // namespace

TransferNode seen_at(const TransferFunction& function, const PlanePoint& at) {
    const auto [low, high] = function.range;
    return mixed(function.at((at.value - low) / (high - low)), function.plane->widgets, at, reach_of(function));
}

PlaneTable plane_table(const TransferFunction& function, int values) {
    const TransferPlane& plane = *function.plane;
    const PlaneReach reach = reach_of(function);
    const auto columns = static_cast<std::size_t>(values);
    PlaneTable table{std::vector<PlaneEntry>(columns * shared::second_rows), std::vector<float>(columns)};
    for (std::size_t i = 0; i < columns; ++i) {
        const double level = static_cast<double>(i) / (values - 1);
        const TransferNode base = function.at(level);
        PlanePoint at{std::lerp(function.range.low, function.range.high, level), 0};
        for (std::size_t row = 0; row < shared::second_rows; ++row) {
            at.second = std::lerp(plane.from, plane.to, static_cast<double>(row) / (shared::second_rows - 1));
            const TransferNode node = mixed(base, plane.widgets, at, reach);
            const auto extinction = static_cast<float>(node.extinction);
            table.entries[row * columns + i] = {extinction, bytes_of(node.red, node.green, node.blue)};
            table.largest[i] = std::max(table.largest[i], extinction);
        }
    }
    return table;
}

bool uses_plane(const TransferCurve& curve, ViewMode mode) {
    return curve.plane && (mode == ViewMode::composite || mode == ViewMode::mida || mode == ViewMode::points ||
                           mode == ViewMode::traced);
}

}  // namespace echolux
