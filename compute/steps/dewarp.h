// Interpolation between the samples of a warped volume, for one voxel of a Cartesian one.
#pragma once

#include <cmath>
#include <cstdint>

#include "compute/host_device.h"

namespace echolux {

// Neighbours of the A-scans at the ends. separate: there are none. helix: A-scans continue in the next B-scan. circle:
// the first follows the last. radial: B-scans are diameters, and the first follows the last in the opposite direction.
enum class LineOrder { separate, helix, circle, radial };

// Real values, depth fastest, in the memory of a backend.
struct WarpedVolume {
    const float* values;
    std::int64_t depth, a_scans, b_scans;
    std::int64_t first_b_scan;  // those before it are not part of the raster
    LineOrder order;

    ECHOLUX_HD static std::int64_t clamped(std::int64_t at, std::int64_t first, std::int64_t end) {
        return at < first ? first : at < end ? at : end - 1;
    }

    // Returns the A-scan with these numbers, or the nearest one.
    ECHOLUX_HD const float* a_scan(std::int64_t a, std::int64_t b) const {
        if (order == LineOrder::helix) return values + clamped(b * a_scans + a, 0, a_scans * b_scans) * depth;
        if (order == LineOrder::circle) a = (a % a_scans + a_scans) % a_scans;
        if (order == LineOrder::radial && (b < 0 || b >= b_scans)) {
            b += b < 0 ? b_scans : -b_scans;
            a = a_scans - 1 - a;
        }
        return values + (clamped(b, first_b_scan, b_scans) * a_scans + clamped(a, 0, a_scans)) * depth;
    }
};

// Place of a voxel in samples. NaN: outside.
struct WarpedSample {
    float row, a_scan[2], b_scan;  // a_scan: in even and odd B-scans
};

// The places inside a volume, with a margin for rounding.
struct SampleBounds {
    float first_row, last_row, first_a_scan, last_a_scan, first_b_scan, last_b_scan;

    ECHOLUX_HD explicit SampleBounds(const WarpedVolume& volume) {
        constexpr float infinite = INFINITY;
        const bool has_ends = volume.order == LineOrder::separate || volume.order == LineOrder::radial;
        set(0, volume.depth, first_row, last_row);
        set(0, volume.a_scans, first_a_scan, last_a_scan);
        set(volume.first_b_scan, volume.b_scans, first_b_scan, last_b_scan);
        if (!has_ends) first_a_scan = -infinite, last_a_scan = infinite;
        if (volume.order == LineOrder::radial) first_b_scan = -infinite, last_b_scan = infinite;
    }

    // NaN is outside.
    ECHOLUX_HD bool contain(const WarpedSample& at) const {
        return (at.row >= first_row) & (at.row <= last_row) & (at.a_scan[0] >= first_a_scan) &
               (at.a_scan[0] <= last_a_scan) & (at.a_scan[1] >= first_a_scan) & (at.a_scan[1] <= last_a_scan) &
               (at.b_scan >= first_b_scan) & (at.b_scan <= last_b_scan);
    }

  private:
    ECHOLUX_HD static void set(std::int64_t first, std::int64_t end, float& low, float& high) {
        constexpr float rounding = 1e-3F;
        const float margin = end - first == 1 ? 0.5F : rounding;  // a single line has no spacing
        low = static_cast<float>(first) - margin;
        high = static_cast<float>(end - 1) + margin;
    }
};

// Weights of `taps` neighbours at the distance `t` behind the first or, of four, the second: 1 nearest, 2 linear, 4
// cubic (E. Catmull, R. Rom, 1974). Real: float, or a vector of them.
template <int taps, class Real>
ECHOLUX_HD void weigh_taps(Real t, Real* weight) {
    if constexpr (taps == 1) weight[0] = t - t + 1.0F;
    if constexpr (taps == 2) {
        weight[0] = 1.0F - t;
        weight[1] = t;
    }
    if constexpr (taps == 4) {
        weight[0] = 0.5F * t * (t * (2.0F - t) - 1.0F);
        weight[1] = 0.5F * (t * t * (3.0F * t - 5.0F) + 2.0F);
        weight[2] = 0.5F * t * (t * (4.0F - 3.0F * t) + 1.0F);
        weight[3] = 0.5F * t * t * (t - 1.0F);
    }
}

// The sample from which the distance to a place is counted, and the first of its neighbours relative to it.
template <int taps>
ECHOLUX_HD float tap_below(float at) {
    return std::floor(taps == 1 ? at + 0.5F : at);
}
template <int taps>
inline constexpr std::int64_t first_tap = taps == 4 ? -1 : 0;

template <int taps>
struct TapWeights {
    std::int64_t first;
    float weight[taps];

    ECHOLUX_HD explicit TapWeights(float at) {
        const float below = tap_below<taps>(at);
        first = static_cast<std::int64_t>(below) + first_tap<taps>;
        weigh_taps<taps>(at - below, weight);
    }
};

// Weights of all A-scans around a place.
template <int taps>
struct LateralWeights {
    const float* a_scan[taps * taps];
    float weight[taps * taps];

    ECHOLUX_HD LateralWeights(const WarpedVolume& volume, const WarpedSample& at) {
        const TapWeights<taps> across(at.b_scan);
        const TapWeights<taps> along[2] = {TapWeights<taps>(at.a_scan[0]), TapWeights<taps>(at.a_scan[1])};
        for (int j = 0; j < taps; ++j) {
            const std::int64_t b = across.first + j;
            const TapWeights<taps>& of_b = along[b & 1];
            for (int i = 0; i < taps; ++i) {
                a_scan[j * taps + i] = volume.a_scan(of_b.first + i, b);
                weight[j * taps + i] = across.weight[j] * of_b.weight[i];
            }
        }
    }
};

// Interpolates along depth in an A-scan.
template <int taps>
ECHOLUX_HD float along_depth(const float* a_scan, std::int64_t depth, float row) {
    const TapWeights<taps> weights(row);
    float sum = 0;
    for (int k = 0; k < taps; ++k) {
        const std::int64_t at = weights.first + k;
        sum += weights.weight[k] * a_scan[at < 0 ? 0 : at < depth ? at : depth - 1];
    }
    return sum;
}

// The value at a place inside the volume.
template <int taps>
ECHOLUX_HD float interpolated(const WarpedVolume& volume, const WarpedSample& at) {
    const LateralWeights<taps> lateral(volume, at);
    const TapWeights<taps> rows(at.row);
    float sums[taps] = {};
    if (rows.first >= 0 && rows.first + taps <= volume.depth) {
        for (int n = 0; n < taps * taps; ++n) {
            const float* values = lateral.a_scan[n] + rows.first;
            for (int k = 0; k < taps; ++k) sums[k] += lateral.weight[n] * values[k];
        }
        float sum = 0;
        for (int k = 0; k < taps; ++k) sum += rows.weight[k] * sums[k];
        return sum;
    }
    float sum = 0;
    for (int n = 0; n < taps * taps; ++n)
        sum += lateral.weight[n] * along_depth<taps>(lateral.a_scan[n], volume.depth, at.row);
    return sum;
}

}  // namespace echolux
