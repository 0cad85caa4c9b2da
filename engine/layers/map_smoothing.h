// Smoothing of en-face maps, [b_scan][a_scan]. Treats left and right identically to the last bit, so that a mirrored
// volume gives mirrored surfaces.
#pragma once

#include <cstdint>
#include <vector>

namespace echolux {

// Size of a map.
struct MapSize {
    std::int64_t a_scans = 0, b_scans = 0;

    std::int64_t count() const { return a_scans * b_scans; }
};

// Returns Gaussian weights of the centre and of each distance from it. They sum to 1, with each distance counted twice.
std::vector<float> half_gaussian(double sigma);

// Applies a Gaussian mean in place, with `sigma` in A-scans and in B-scans. 0 skips an axis. End values extend beyond
// the ends.
void smooth_map(std::vector<float>& map, const MapSize& size, double sigma_a, double sigma_b);

// Applies the mean weighted by `weights`; weights of 0 exclude a value. Values too far from any weight do not change.
void smooth_weighted(std::vector<float>& map, const std::vector<float>& weights, const MapSize& size, double sigma_a,
                     double sigma_b);

// Returns the median of 3 x 3 values, of fewer at the ends.
std::vector<float> median_of_neighbours(const std::vector<float>& map, const MapSize& size);

// Replaces unknown values by the mean of known neighbours, working outwards from the known ones. Does nothing if no
// value is known.
void fill_unknown(std::vector<float>& map, std::vector<std::uint8_t> is_known, const MapSize& size);

// Removes outliers of a map: values far from the smooth surface through most of their neighbours.

// At each position, fits a surface of second order to the values within `reach` by iteratively reweighted least squares
// (P. W. Holland, R. E. Welsch, Commun. Stat. A6, 813, 1977). Values further than `limit` from the surface are replaced
// by it.
std::vector<float> without_outliers(const std::vector<float>& map, const MapSize& size, std::int64_t reach,
                                    double limit);

}  // namespace echolux
