// Finding layer boundaries, one step at a time (docs/layers.md): intensities of a layer are exponentially distributed
// around its mean, so the cost of a voxel of intensity I in a layer of mean p is I / p + ln p; neighbouring A-scans are
// coupled as semi-global matching couples pixels (Hirschmueller, IEEE TPAMI 30, 2008).
#pragma once

#include <cmath>

#include "compute/host_device.h"
#include "compute/steps/depth.h"

namespace echolux {

// Candidates of a boundary in one A-scan: rows around its coarse place.
inline constexpr int boundary_reach = 10;  // rows to either side
inline constexpr int boundary_labels = 2 * boundary_reach + 1;
inline constexpr int boundary_lanes = 24;  // labels and what fills up a vector
inline constexpr float impossible = 1e4f;  // cost of what cannot be, in nats

// n voxels of one layer whose mean is only known from themselves: n ln(mean), up to a constant.
struct PieceCost {
    ECHOLUX_HD float operator()(float sum, float count) const {
        constexpr float ln_2 = 0.69314718f;
        return count * ln_2 * Log2{}(sum / count);
    }
};

// Where a boundary may lie in an A-scan: voxels from `first` on belong to the layer above, those before `last` to the
// layer below.
struct BoundaryWindow {
    int first, last;
    float mean_above, mean_below, log_above, log_below;  // natural logarithms
};

// Of a boundary between voxels z - 1 and z; `above` and `below` are the sums of the window's intensities on each side.
struct BoundaryCost {
    ECHOLUX_HD float operator()(const BoundaryWindow& window, int z, float above, float below) const {
        const auto count_above = static_cast<float>(z - window.first);
        const auto count_below = static_cast<float>(window.last - z);
        if (count_above < 0 || count_below < 0) return impossible;
        return above / window.mean_above + count_above * window.log_above + below / window.mean_below +
               count_below * window.log_below;
    }
};

// What a boundary's step from one A-scan to the next costs, in nats. `previous` is the sum of costs along the way at
// the same depth in the A-scan before; three candidates to either side of it can be read.
struct SweepStep {
    float smoothness = 1;

    ECHOLUX_HD float operator()(const float* previous) const {
        float best = previous[0];
        for (int step = 1; step <= 3; ++step) {
            constexpr float penalties[4] = {0, 2, 4.5f, 9};
            const float penalty = penalties[step] * smoothness;
            const float nearer = previous[-step] < previous[step] ? previous[-step] : previous[step];
            best = nearer + penalty < best ? nearer + penalty : best;
        }
        return best;
    }
};

}  // namespace echolux
