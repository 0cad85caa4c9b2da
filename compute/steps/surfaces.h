// What becomes of boundaries once sweeps have placed them (docs/layers.md), one A-scan at a time: their order, which
// are to be believed, and the rows of surfaces.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "compute/host_device.h"
#include "compute/reason.h"
#include "compute/steps/layers.h"

namespace echolux {

inline constexpr float least_weight_of_a_mean = 1e-6f;  // with less a map is not smoothed there

// The row that begins nearest to a place.
ECHOLUX_HD inline std::int32_t whole_row(float place) {
    return static_cast<std::int32_t>(std::lround(place));
}

// Of a boundary that is looked for, in rows.
struct WantedRows {
    float smoothness = 1;
    float least = 0;  // from the one above
    std::int32_t polarity = 0;
    std::int32_t is_thin = 0;  // the layer above it may be too thin to tell
};

// The boundaries of one A-scan, from above; those of each one are `stride` values apart.
struct LineOfSurfaces {
    std::int32_t* rows;
    float* places;  // finer than rows
    float* quality;
    Reason* reasons;
    std::int64_t stride;
    const WantedRows* wanted;
    int count;

    // Each at least its distance below the one before; how many were moved for that.
    ECHOLUX_HD int order_rows() const {
        int moved = 0;
        for (int k = 1; k < count; ++k) {
            const std::int32_t least = row(k - 1) + static_cast<std::int32_t>(wanted[k].least);
            if (row(k) >= least) continue;
            rows[k * stride] = least;
            ++moved;
        }
        return moved;
    }
    ECHOLUX_HD void order_places() const {
        for (int k = 1; k < count; ++k) {
            const float least = place(k - 1) + wanted[k].least;
            if (place(k) < least) places[k * stride] = least;
        }
    }

    // Where hardly anything speaks for a boundary. `contrast_db`: NaN where it cannot be told.
    ECHOLUX_HD void mark_weak(int k, float contrast_db) const {
        constexpr float least_contrast_db = 1;
        const int polarity = wanted[k].polarity;
        const float rise =
            polarity != 0 ? static_cast<float>(polarity) * contrast_db : (contrast_db < 0 ? -contrast_db : contrast_db);
        if (!(rise >= least_contrast_db) && !is_thin_as_wanted(k)) reasons[k * stride] = Reason::weak_match;
    }

    // Beside voxels that were never recorded there is no telling where a surface lies.
    ECHOLUX_HD void mark_missing(int k, const float* line, int depth) const {
        constexpr int reach = 2;  // rows on either side
        const int at = row(k), first = at > reach ? at - reach : 0, end = at + reach < depth ? at + reach : depth;
        for (int z = first; z < end; ++z) {
            if (!is_recorded(line[z])) reasons[k * stride] = Reason::out_of_range;
        }
    }

    // Of boundaries that lie on each other only the one that is surer in the whole volume is there.
    ECHOLUX_HD void mark_doubled(const double* sureness) const {
        int kept = count;  // none yet
        for (int k = 0; k < count; ++k) {
            if (!has_place(reasons[k * stride])) continue;
            const bool is_doubled =
                kept < k && place(k) - place(kept) < static_cast<float>(thinnest_layer) && wanted[k].is_thin == 0;
            const int less = is_doubled && sureness[k] > sureness[kept] ? kept : k;
            if (is_doubled) reasons[less * stride] = Reason::weak_match;
            if (!is_doubled || less != k) kept = k;
        }
    }

    // Voxel i reaches from i - 1/2 to i + 1/2: a boundary above it lies at i - 1/2. In place of `places`.
    ECHOLUX_HD void finish(bool has_signal, int depth) const {
        constexpr float parts_of_a_row = 4096;  // what sums of smoothing round is not told
        for (int k = 0; k < count; ++k) {
            const float at = std::round(place(k) * parts_of_a_row) / parts_of_a_row - 0.5f;
            Reason& reason = reasons[k * stride];
            if (!has_signal)
                reason = Reason::no_signal;
            else if (at < 0 || at > static_cast<float>(depth - 1))
                reason = Reason::out_of_range;
            const bool is_there = has_place(reason);
            places[k * stride] = is_there ? at : std::bit_cast<float>(std::uint32_t{0x7fc00000});  // NaN
            if (!is_there) quality[k * stride] = 0;
        }
    }

  private:
    ECHOLUX_HD std::int32_t row(int k) const { return rows[k * stride]; }
    ECHOLUX_HD float place(int k) const { return places[k * stride]; }

    // Whether a layer beside the boundary is too thin to tell, and was looked for as such.
    ECHOLUX_HD bool is_thin_as_wanted(int k) const {
        const auto is_thin = [&](int lower) {
            return wanted[lower].is_thin != 0 && row(lower) - row(lower - 1) < thinnest_layer;
        };
        return (k > 0 && is_thin(k)) || (k + 1 < count && is_thin(k + 1));
    }
};

}  // namespace echolux
