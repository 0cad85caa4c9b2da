// Search for the boundaries of layered tissue on the CPU: coarse positions from averaged profiles, smoothing of en-
// face maps, and the search for exact positions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "compute/tissue_on_gpu.h"
#include "engine/analysis/intensity.h"
#include "engine/layers/layers.h"

namespace echolux {

// ---- Smoothing of en-face maps, [b_scan][a_scan]. Treats left and right identically to the last bit, so that a
// mirrored volume gives mirrored surfaces.

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

// ---- Removes outliers of a map: values far from the smooth surface through most of their neighbours.

// At each position, fits a surface of second order to the values within `reach` by iteratively reweighted least squares
// (P. W. Holland, R. E. Welsch, Commun. Stat. A6, 813, 1977). Values further than `limit` from the surface are replaced
// by it.
std::vector<float> without_outliers(const std::vector<float>& map, const MapSize& size, std::int64_t reach,
                                    double limit);

// ---- Coarse positions of boundaries, to about two voxels. The mean profile of each block of A-scans is cut into its
// most likely layers, and the blocks' positions are interpolated to all A-scans. Also separates tissue from noise.

struct CoarseLayers {
    // [boundary][A-scan]: the row that begins below the boundary, fractions included.
    std::vector<std::vector<float>> places;
    std::vector<std::uint8_t> has_signal;  // per A-scan
    double floor = 0;                      // mean intensity of noise
    bool is_found = false;                 // boundaries were found in any block
    bool has_tissue = false;               // in any block; without is_found, the distances and polarities fit nowhere
};

// Finds the boundaries in `intensity`, [b_scan][a_scan][depth]; values that are not finite are missing voxels.
// `known_floor` is the mean intensity of noise, if the volume states it.
CoarseLayers coarse_layers(const std::vector<float>& intensity, const Size3& size,
                           const std::vector<BoundaryOptions>& wanted, bool tissue_below,
                           std::optional<double> known_floor);

// Return the division of A-scans and B-scans into blocks.
BlockAxis blocks_along_a(const Size3& size);
BlockAxis blocks_along_b(const Size3& size);

// Returns the thresholds that separate tissue from noise. `floor` is the mean intensity of noise.
SignalLevels signal_levels(std::int64_t rows, double floor);

// Fills the tables that a GPU needs for the coarse search. `tables.size` must be set.
void set_coarse(SurfaceTables& tables, const std::vector<BoundaryOptions>& wanted, bool tissue_below,
                std::optional<double> known_floor);

// ---- CPU implementation of the boundary search, the reference for compute/tissue_on_gpu.h.

// Keeps references to the arguments.
std::unique_ptr<BoundarySearch> boundary_search_on_cpu(const std::vector<float>& intensity, const Size3& size,
                                                       const CoarseLayers& coarse);

// ---- Cost of each boundary at each of a few rows around its present position, per A-scan. The cost is the negative
// log likelihood of the intensities above and below it, given the mean brightness of the two layers nearby.

// [boundary][A-scan][lane]: label l is l - boundary_reach rows below the present position.
using BoundaryCosts = std::vector<std::vector<float>>;

// Returns the weights of neighbouring A-scans and B-scans in a layer's mean: first the centre, then each distance from
// it.
const std::vector<float>& layer_mean_weights();

// Returns the lower limit of a layer's mean. `floor` is the mean intensity of noise.
float min_layer_mean(double floor);

inline constexpr double contrast_sigma = 3;  // A-scans and B-scans; smoothing of the two sides of a boundary
float contrast_margin(double floor);         // added to both sides of a boundary before dividing

// Computes the costs of all boundaries. Costs are 0 for A-scans without signal or with voxels that are not finite in
// the searched rows. `floor` is the mean intensity of noise.
BoundaryCosts boundary_costs(const std::vector<float>& intensity, const Size3& size, const BoundaryRows& rows,
                             const std::vector<std::uint8_t>& has_signal, double floor);

// Returns per A-scan the contrast in dB of the voxels just below a boundary over those just above it, averaged over
// neighbouring A-scans. Layers that are too thin are skipped. NaN without signal and at the ends of the A-scan.
std::vector<float> contrast_db(const std::vector<float>& intensity, const Size3& size, const BoundaryRows& rows,
                               std::size_t boundary, const std::vector<std::uint8_t>& has_signal, double floor);

}  // namespace echolux
