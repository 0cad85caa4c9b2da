// Finding layer boundaries, one step at a time (docs/layers.md): intensities of a layer are exponentially distributed
// around its mean, so the cost of a voxel of intensity I in a layer of mean p is I / p + ln p; neighbouring A-scans are
// coupled as semi-global matching couples pixels (Hirschmueller, IEEE TPAMI 30, 2008).
#pragma once

#include <bit>
#include <cstdint>

#include "compute/host_device.h"
#include "compute/steps/depth.h"

namespace echolux {

// Candidates of a boundary in one A-scan: rows around its coarse place.
inline constexpr int boundary_reach = 10;  // rows to either side
inline constexpr int boundary_labels = 2 * boundary_reach + 1;
inline constexpr int boundary_lanes = 24;        // labels and what fills up a vector
inline constexpr float impossible = 1e4f;        // cost of what cannot be, in nats
inline constexpr int boundary_window_rows = 24;  // that count on either side of a boundary

// ln of a positive normal number, relative error below 3e-7: m = 2^e f with f in sqrt(1/2) .. sqrt(2), ln f = 2 artanh
// s, s = (f - 1) / (f + 1). Our own, so that every processor finds the same bits: products are not fused with sums
// where these steps are compiled.
struct NaturalLog {
    ECHOLUX_HD float operator()(float m) const {
        constexpr std::int32_t sqrt_half = 0x3f3504f3;
        constexpr float ln_2 = 0.69314718f;
        const auto bits = std::bit_cast<std::int32_t>(m);
        const std::int32_t exponent = (bits - sqrt_half) >> 23;
        const float f = std::bit_cast<float>(bits - exponent * (1 << 23));
        const float s = (f - 1) / (f + 1), t = s * s;
        const float series = 2 * s * (1 + t * (1.0f / 3 + t * (1.0f / 5 + t * (1.0f / 7 + t * (1.0f / 9)))));
        return static_cast<float>(exponent) * ln_2 + series;
    }
};

// Rows that tell how bright the layer between two edges is: those at its edges belong to the point spread.
struct LayerInside {
    int begin, end;

    ECHOLUX_HD static LayerInside of(int edge, int next_edge, int depth) {
        const int end = next_edge - 1 > edge + 2 ? next_edge - 1 : edge + 2;
        return {edge + 1, end < depth ? end : depth};
    }
};

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

    // Of a boundary at `at` with those above and below it (or the ends of the A-scan) at `over` and `under`, between
    // layers of these means. Too great a contrast would let the tail of the point spread move boundaries.
    ECHOLUX_HD static BoundaryWindow between(int at, int over, int under, float above, float below) {
        constexpr float most_contrast = 8;
        constexpr int least_rows = 2;
        const auto rows = [](int count) {
            const int some = count > least_rows ? count : least_rows;
            return some < boundary_window_rows ? some : boundary_window_rows;
        };
        const int first = at - boundary_reach - rows(at - over), last = at + boundary_reach + rows(under - at);
        BoundaryWindow window{};
        window.first = first > over ? first : over;
        window.last = last < under ? last : under;
        window.mean_above = above > below / most_contrast ? above : below / most_contrast;
        window.mean_below = below > above / most_contrast ? below : above / most_contrast;
        window.log_above = NaturalLog{}(window.mean_above);
        window.log_below = NaturalLog{}(window.mean_below);
        return window;
    }
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

inline constexpr float beyond_boundary_labels = 20;             // nats for what the A-scan before had no candidate for
inline constexpr int farthest_boundary_rows = boundary_labels;  // from one A-scan to the next; no candidate in common
inline constexpr int far_apart_boundary_rows = 2;               // between places along A-scans and along B-scans alone

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
