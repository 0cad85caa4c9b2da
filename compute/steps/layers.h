// Single steps of the search for layer boundaries (docs/layers.md). Intensities in a layer are exponentially
// distributed around its mean, so a voxel of intensity I in a layer of mean p costs I / p + ln p. Neighbouring A-scans
// are coupled as in semi-global matching (Hirschmueller, IEEE TPAMI 30, 2008).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "compute/host_device.h"

namespace echolux {

// Candidates ("labels") of a boundary in one A-scan: rows around its coarse position.
inline constexpr int boundary_reach = 10;  // rows on either side
inline constexpr int boundary_labels = 2 * boundary_reach + 1;
inline constexpr int boundary_lanes = 24;        // labels padded to a whole number of vectors
inline constexpr float impossible = 1e4f;        // cost of an invalid position, in nats
inline constexpr int boundary_window_rows = 24;  // max rows on either side of a boundary that affect its cost

// ln of a positive normal number, relative error below 3e-7. With m = 2^e f and f in sqrt(1/2) .. sqrt(2), ln f = 2
// artanh s with s = (f - 1) / (f + 1). Our own implementation, so that all backends return the same bits. These steps
// are compiled without fused multiply-add.
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

// Edges of the layers in an A-scan: 0, then its boundaries (`stride` values apart), then the depth.
struct LayerEdges {
    const std::int32_t* rows;  // rows of the first boundary
    std::int64_t stride;
    int boundaries, depth;

    ECHOLUX_HD int operator()(int edge) const {
        if (edge == 0) return 0;
        if (edge > boundaries) return depth;
        const int row = rows[(edge - 1) * stride];
        return row < 0 ? 0 : row < depth ? row : depth;
    }
};

// Rows that determine the brightness of the layer between two edges. Rows next to the edges are excluded because the
// point spread function blurs them.
struct LayerInside {
    int begin, end;

    ECHOLUX_HD static LayerInside of(int edge, int next_edge, int depth) {
        const int end = next_edge - 1 > edge + 2 ? next_edge - 1 : edge + 2;
        return {edge + 1, end < depth ? end : depth};
    }
};

// Cost of n voxels of one layer whose mean is estimated from the same voxels: n ln(mean), up to a constant.
struct PieceCost {
    ECHOLUX_HD float operator()(float sum, float count) const { return count * NaturalLog{}(sum / count); }
};

// Rows that affect the cost of a boundary in one A-scan. Rows from `first` on belong to the layer above, rows before
// `last` to the layer below.
struct BoundaryWindow {
    int first, last;
    float mean_above, mean_below, log_above, log_below;  // natural logarithms

    // Returns the window of a boundary at row `at`. `over` and `under` are its neighbouring boundaries or the ends of
    // the A-scan, `above` and `below` the means of the two layers. The contrast is limited, because otherwise the tail
    // of the point spread function would shift boundaries.
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

// Returns whether a voxel was recorded. Unrecorded ones are NaN.
ECHOLUX_HD inline bool is_recorded(float value) {
    return std::isfinite(value);
}

// Shrinks a window to the recorded rows around the candidates. Returns false if a candidate row itself was not
// recorded, so that the boundary cannot be located.
ECHOLUX_HD inline bool keeps_recorded(BoundaryWindow& window, int at, const float* line) {
    const auto clamped = [](int value, int low, int high) { return value < low ? low : value < high ? value : high; };
    const int begin = clamped(at - boundary_reach, window.first, window.last),
              end = clamped(at + boundary_reach, begin, window.last);
    for (int z = begin; z < end; ++z) {
        if (!is_recorded(line[z])) return false;
    }
    int first = begin, last = end;
    while (first > window.first && is_recorded(line[first - 1])) --first;
    while (last < window.last && is_recorded(line[last])) ++last;
    window.first = first;
    window.last = last;
    return true;
}

// Cost of a boundary between voxels z - 1 and z. `above` and `below` are the sums of the window's intensities on each
// side.
struct BoundaryCost {
    ECHOLUX_HD float operator()(const BoundaryWindow& window, int z, float above, float below) const {
        const auto count_above = static_cast<float>(z - window.first);
        const auto count_below = static_cast<float>(window.last - z);
        if (count_above < 0 || count_below < 0) return impossible;
        return above / window.mean_above + count_above * window.log_above + below / window.mean_below +
               count_below * window.log_below;
    }
};

// Returns the cost of a label. `sums` are prefix sums of the A-scan, which has `depth` rows.
ECHOLUX_HD inline float boundary_cost(const BoundaryWindow& window, int at, int label, const double* sums, int depth) {
    const auto before = [&](int z) { return sums[z < 0 ? 0 : z < depth ? z : depth]; };
    const int z = at - boundary_reach + label;
    return BoundaryCost{}(window, z, static_cast<float>(before(z) - before(window.first)),
                          static_cast<float>(before(window.last) - before(z)));
}

// Brightness directly above and below a boundary. Layers too thin to measure are skipped.
inline constexpr int thinnest_layer = 3;  // rows: thinner layers may only show the blur of their neighbours

struct BoundarySides {
    bool is_told = false;
    float above = 0, below = 0;

    ECHOLUX_HD static BoundarySides of(const LayerEdges& edges, int boundary, const float* line) {
        constexpr int reach = 6;  // max rows on either side
        const int middle = edges(boundary + 1);
        int above_it = boundary, below_it = boundary + 2;
        while (above_it > 0 && middle - edges(above_it) < thinnest_layer) --above_it;
        while (below_it <= edges.boundaries && edges(below_it) - middle < thinnest_layer) ++below_it;
        const int over = edges(above_it), under = edges(below_it);
        const int first = middle - reach > over ? middle - reach : over,
                  last = middle + reach < under ? middle + reach : under;
        if (middle - first < thinnest_layer || last - middle < thinnest_layer) return {};
        const auto mean = [&](int begin, int end) {
            float sum = 0;
            for (int z = begin; z < end; ++z) sum += line[z];
            return sum / static_cast<float>(end - begin);
        };
        if (!is_recorded(mean(first, last))) return {};
        return {true, mean(first, middle), mean(middle, last)};
    }

    // Returns the brightness step in dB, positive if brighter below. `margin` is far below the noise and avoids log(0).
    ECHOLUX_HD static float contrast_db(float above, float below, float margin) {
        constexpr float db = 4.34294482f;  // 10 lg e
        return db * NaturalLog{}((below + margin) / (above + margin));
    }
};

// Cost in nats of a label without a counterpart in the previous A-scan
inline constexpr float beyond_boundary_labels = 20;
// Distance between neighbouring A-scans, in rows, beyond which no candidates are shared
inline constexpr int farthest_boundary_rows = boundary_labels;
// Max difference in rows between the positions found along A-scans and along B-scans
inline constexpr int far_apart_boundary_rows = 2;

// Cost of moving a boundary from one A-scan to the next, in nats. `previous` points to the accumulated cost at the same
// depth in the previous A-scan, and three candidates on either side of it must be readable.
struct SweepStep {
    float smoothness = 1;

    // Returns the label offset that selects the same depth in the previous A-scan, whose boundary was `moved` rows
    // higher. Clamped to the readable range.
    ECHOLUX_HD static int shift(int moved) {
        constexpr int least = -farthest_boundary_rows, most = farthest_boundary_rows - 3;
        return moved < least ? least : moved > most ? most : moved;
    }

    // Combines both directions of a sweep, counting the A-scan's own cost once.
    ECHOLUX_HD static float both_ways(float there, float back, float cost) { return (there + back) - cost; }

    // Combines the sweeps along A-scans and along B-scans.
    ECHOLUX_HD static float crossed(float along_a, float along_b, float cost) { return along_a + along_b - cost; }

    // Returns whether a label is far enough from the best one for its cost to measure confidence.
    ECHOLUX_HD static bool is_rival(int label, int best) { return label - best >= 3 || best - label >= 3; }

    ECHOLUX_HD static bool are_far_apart(int along_a, int along_b) {
        return along_a - along_b > far_apart_boundary_rows || along_b - along_a > far_apart_boundary_rows;
    }

    // Returns the min cost over the seven reachable labels of the previous A-scan.
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
