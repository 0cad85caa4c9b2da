// From values to light: a piecewise linear curve of colour and extinction over the range [low, high] of values. The
// extinction is per length (1 over the volume's depth), so that pictures depend neither on the step nor on the voxels.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/types.h"
#include "render/view.h"

namespace echolux {

struct TransferNode {
    double level;  // 0: low, 1: high
    double red, green, blue;
    double extinction;  // per depth of the volume
};

struct ValueRange {
    double low = 0;
    double high = 1;
};

// What a preset means for a volume: the curve, and the range of values it is spread over.
struct TransferFunction {
    std::span<const TransferNode> nodes;  // level ascending from 0 to 1
    ValueRange range;

    TransferNode at(double level) const;  // clamped to [0, 1]

    // Below this level the extinction is zero; 1 when it is zero everywhere.
    double first_visible_level() const;
};

// `percentiles` of the volume are taken where neither the view nor the preset knows an end of the range. Throws
// Error{bad_setting} when the end that the view gives lies beyond the one that is chosen.
TransferFunction transfer_function(const View& view, const VolumeGrid& grid, const ValueRange& percentiles);

// The curve at `entries` levels from 0 to 1.
struct TransferTable {
    std::vector<float> extinctions;
    std::vector<std::array<std::uint8_t, 4>> colours;  // RGBA, opaque
};
TransferTable transfer_table(const TransferFunction& function, int entries);

}  // namespace echolux
