// Maps seen from above, [b_scan][a_scan]: smoothing that treats left and right alike to the last bit, so that a
// mirrored volume gives mirrored surfaces.
#pragma once

#include <cstdint>
#include <vector>

namespace echolux {

struct MapSize {
    std::int64_t a_scans = 0, b_scans = 0;

    std::int64_t count() const { return a_scans * b_scans; }
};

// Weights of the middle and of each distance from it; all of them, the distances twice, have the sum 1.
std::vector<float> half_gaussian(double sigma);

// Gaussian mean in place, `sigma` in A-scans and in B-scans; 0 leaves that way as it is. Beyond the ends the end value
// goes on.
void smooth_map(std::vector<float>& map, const MapSize& size, double sigma_a, double sigma_b);

// The mean weighted by `weights`, which counts nothing where they are 0; what is too far from any stays as it was.
void smooth_weighted(std::vector<float>& map, const std::vector<float>& weights, const MapSize& size, double sigma_a,
                     double sigma_b);

// The median of 3 x 3, of fewer at the ends.
std::vector<float> median_of_neighbours(const std::vector<float>& map, const MapSize& size);

// Where `is_known` is 0, the mean of the known neighbours, from those nearest to them outwards. Nothing where none is.
void fill_unknown(std::vector<float>& map, std::vector<std::uint8_t> is_known, const MapSize& size);

}  // namespace echolux
