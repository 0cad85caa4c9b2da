// From values to light: a piecewise linear curve of colour and extinction over the range [low, high] of values. The
// extinction is per length, so that pictures depend neither on the step nor on the voxels.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compute/plan/describe.h"
#include "compute/types.h"
#include "render/view/view.h"

namespace echolux {

// What a view means for a volume: the curve in the volume's values, and the range that it is spread over.
struct TransferFunction {
    std::vector<TransferNode> nodes;  // value ascending from range.low to range.high
    ValueRange range;
    double length = 1;  // over which extinctions are counted: micrometres, voxels where the spacing is unknown
    std::optional<TransferPlane> plane{};  // in the volume's values, per micrometre

    bool operator==(const TransferFunction&) const = default;

    bool has_roughness() const { return nodes.front().roughness != no_roughness; }

    TransferNode at(double level) const;  // 0: low, 1: high; clamped to [0, 1]

    // Below this level the extinction is zero; 1 when it is zero everywhere.
    double first_visible_level() const;
};

// Which curve a view means for a volume: that of its file, its own preset or a shipped one.
const TransferCurve& curve_of(const View& view, const VolumeGrid& grid);

// `percentiles` of the volume are taken where neither the view nor the curve knows an end of the range. Throws
// Error{bad_setting} when the end that the view gives lies beyond the one that is chosen, or when the values of a
// file's curve have another unit than the volume's.
TransferFunction transfer_function(const View& view, const VolumeGrid& grid, const ValueRange& percentiles);

// The value of the isosurface, by itself half way up the range.
double isovalue_of(const View& view, const TransferFunction& function);

// Where two nodes lie, what holds between them.
TransferNode between(const TransferNode& a, const TransferNode& b, double value);

// As tables have colours.
std::array<std::uint8_t, 4> bytes_of(double red, double green, double blue);

// The curve at `entries` levels from 0 to 1; of one over two axes, the largest extinction of each value.
struct TransferTable {
    std::vector<float> extinctions;
    std::vector<std::array<std::uint8_t, 4>> colours;  // RGBA, opaque
};
TransferTable transfer_table(const TransferFunction& function, int entries);

}  // namespace echolux
