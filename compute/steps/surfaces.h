// Postprocessing of boundaries after the sweeps (docs/layers.md), one A-scan at a time: enforces their order, rejects
// unreliable ones and computes the rows of surfaces.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "compute/host_device.h"
#include "compute/reason.h"
#include "compute/steps/layers.h"

namespace echolux {

inline constexpr float least_weight_of_a_mean = 1e-6f;  // positions with less weight are not smoothed

// Returns the row whose start is nearest to a position.
ECHOLUX_HD inline std::int32_t whole_row(float place) {
    return static_cast<std::int32_t>(std::lround(place));
}

// A requested boundary, in rows.
struct WantedRows {
    float smoothness = 1;
    float least = 0;  // min distance from the previous boundary
    std::int32_t polarity = 0;
    std::int32_t is_thin = 0;  // the layer above may be too thin to measure
};

// Result of a sweep for a boundary in one A-scan. At the end of its candidates, the boundary needs another pass.
struct SweptPlace {
    std::int32_t label;
    std::uint8_t is_ambiguous, has_signal;

    ECHOLUX_HD bool is_at_end() const { return has_signal != 0 && (label == 0 || label == boundary_labels - 1); }
    ECHOLUX_HD std::int32_t rows_down() const { return label - boundary_reach; }
    ECHOLUX_HD Reason reason() const { return is_at_end() || is_ambiguous != 0 ? Reason::ambiguous : Reason::ok; }
};

// Counts the sweeps: first around the coarse positions, then around the results. Each pass moves boundaries by at most
// the candidate reach, so steep ones need several passes. Boundaries that do not converge are marked as unknown.
class SweepPasses {
  public:
    static constexpr int least = 2;

    explicit SweepPasses(std::int64_t places) : places_(static_cast<double>(places)) {}

    int done() const { return done_; }
    bool are_settled() const { return done_ >= most || (done_ >= least && is_still_); }

    // Ends a pass. `at_ends` is the number of positions at the end of their candidates.
    void end(std::int64_t at_ends) {
        constexpr double may_stay = 5e-4;  // share of positions at the ends that needs no further pass
        // relative to the previous pass: with more left, another pass will not help
        constexpr double still_moves = 0.9;
        const auto now = static_cast<double>(at_ends);
        is_still_ = now <= may_stay * places_ || (done_ > 0 && now > still_moves * before_);
        before_ = now;
        ++done_;
    }

  private:
    static constexpr int most = 6;
    double places_, before_ = 0;
    bool is_still_ = false;
    int done_ = 0;
};

// Detects a layer that is far more likely to be two layers, 8 dB or more apart. `line` holds linear intensities of an
// A-scan, `floor` is the mean of the noise.
struct MixedLayer {
    ECHOLUX_HD bool operator()(const float* line, const LayerInside& inside, double floor) const {
        constexpr int least_rows = 6, step = 3;
        constexpr double unlike = 6.3, sure = 15;  // ratio of 8 dB; nats
        const int count = inside.end - inside.begin;
        if (count < 2 * least_rows) return false;
        double sum = 0, above = 0;
        for (int z = inside.begin; z < inside.end; ++z) sum += static_cast<double>(line[z]);
        if (!is_recorded(static_cast<float>(sum))) return false;
        const double whole = count * log_of(sum / count + floor);
        for (int n = 1; n <= count - least_rows; ++n) {
            above += static_cast<double>(line[inside.begin + n - 1]);
            if (n < least_rows || n % step != 0) continue;
            const double rest = count - n, upper = above / n + floor, lower = (sum - above) / rest + floor;
            if (upper < unlike * lower && lower < unlike * upper) continue;
            if (whole - n * log_of(upper) - rest * log_of(lower) > sure) return true;
        }
        return false;
    }

  private:
    ECHOLUX_HD static double log_of(double mean) { return static_cast<double>(NaturalLog{}(static_cast<float>(mean))); }
};

// The boundaries of one A-scan from the top, stored `stride` values apart.
struct LineOfSurfaces {
    std::int32_t* rows;
    float* places;  // with sub-row precision
    float* quality;
    Reason* reasons;
    std::int64_t stride;
    const WantedRows* wanted;
    int count;

    // Moves boundaries down to their min distance from the previous one. Returns the number moved.
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

    // Marks a boundary with hardly any contrast. `contrast_db` is NaN if it could not be measured.
    ECHOLUX_HD void mark_weak(int k, float contrast_db) const {
        constexpr float least_contrast_db = 1;
        const int polarity = wanted[k].polarity;
        const float rise =
            polarity != 0 ? static_cast<float>(polarity) * contrast_db : (contrast_db < 0 ? -contrast_db : contrast_db);
        if (!(rise >= least_contrast_db) && !is_thin_as_wanted(k)) reasons[k * stride] = Reason::weak_match;
    }

    // Marks two surfaces as ambiguous if a missed surface is between them: both may be misplaced.
    ECHOLUX_HD void mark_mixed(const float* line, int depth, double floor) const {
        const LayerEdges edges{rows, stride, count, depth};
        for (int k = 0; k + 1 < count; ++k) {
            if (!MixedLayer{}(line, LayerInside::of(edges(k + 1), edges(k + 2), depth), floor)) continue;
            for (int of = k; of <= k + 1; ++of) {
                Reason& reason = reasons[of * stride];
                if (reason == Reason::ok) reason = Reason::ambiguous;
            }
        }
    }

    // Marks surfaces next to unrecorded voxels, whose position cannot be determined.
    ECHOLUX_HD void mark_missing(int k, const float* line, int depth) const {
        constexpr int reach = 2;  // rows on either side
        const int at = row(k), first = at > reach ? at - reach : 0, end = at + reach < depth ? at + reach : depth;
        for (int z = first; z < end; ++z) {
            if (!is_recorded(line[z])) reasons[k * stride] = Reason::out_of_range;
        }
    }

    // Of coinciding boundaries, keeps the one with the higher confidence in the whole volume.
    ECHOLUX_HD void mark_doubled(const double* sureness) const {
        int kept = count;  // none
        for (int k = 0; k < count; ++k) {
            if (!has_place(reasons[k * stride])) continue;
            const bool is_doubled =
                kept < k && place(k) - place(kept) < static_cast<float>(thinnest_layer) && wanted[k].is_thin == 0;
            const int less = is_doubled && sureness[k] > sureness[kept] ? kept : k;
            if (is_doubled) reasons[less * stride] = Reason::weak_match;
            if (!is_doubled || less != k) kept = k;
        }
    }

    // Converts positions to surface rows in place. Voxel i covers i - 1/2 to i + 1/2, so a boundary above it is at i -
    // 1/2.
    ECHOLUX_HD void finish(bool has_signal, int depth) const {
        constexpr float parts_of_a_row = 4096;  // rounds away differences in the order of smoothing sums
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

    // Returns whether a layer next to the boundary is too thin to measure and was declared so.
    ECHOLUX_HD bool is_thin_as_wanted(int k) const {
        const auto is_thin = [&](int lower) {
            return wanted[lower].is_thin != 0 && row(lower) - row(lower - 1) < thinnest_layer;
        };
        return (k > 0 && is_thin(k)) || (k + 1 < count && is_thin(k + 1));
    }
};

}  // namespace echolux
