// Shared by tests of transfer functions over two axes.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "compute/plan/describe.h"
#include "render/transfer_function.h"
#include "rendering.h"

namespace echolux::test {

inline constexpr double far_away = 1e9;

inline TransferWidget box(ValueRange values, ValueRange seconds, double extinction, double softness = 0) {
    return {.shape = WidgetShape::box,
            .points = {{values.low, seconds.low}, {values.high, seconds.high}},
            .softness = softness,
            .colour = {0.9, 0.4, 0.2},
            .extinction = extinction};
}

// A curve over values from 0 to 40 that shows nothing without widgets.
inline TransferCurve dark(TransferPlane plane, double length_um = 0) {
    return {.nodes = {{0, 0.2, 0.2, 0.3, 0}, {40, 1, 1, 0.9, 0}}, .length_um = length_um, .plane = std::move(plane)};
}

inline TransferFunction function_of(const TransferPlane& plane) {
    return TransferFunction{.nodes = dark({}).nodes, .range = {0, 40}, .plane = plane};
}

// Sparse: most of it is almost 0.
inline double speckle_in_boxes(std::int64_t z, std::int64_t a, std::int64_t b) {
    return (a / 9 + b / 8 + z / 10) % 3 == 0 ? 44 * noise(z, a, b) : 2 * noise(z, a, b);
}

}  // namespace echolux::test
