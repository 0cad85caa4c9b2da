// Settings of the search for the boundaries of layered tissue, its CPU backend, and the smoothing of en-face maps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "compute/boundary_search.h"
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

// Replaces unknown values by the mean of known neighbours, working outwards from the known ones. Does nothing if no
// value is known.
void fill_unknown(std::vector<float>& map, std::vector<std::uint8_t> is_known, const MapSize& size);

// ---- The search itself, in the order of compute/boundary_search_on.h. Coarse positions of boundaries, to about two
// voxels: the mean profile of each block of A-scans is cut into its most likely layers, and the blocks' positions are
// interpolated to all A-scans. Then sweeps around them.

// Returns the thresholds that separate tissue from noise. `floor` is the mean intensity of noise.
SignalLevels signal_levels(std::int64_t rows, double floor);

// Returns the input of a search. `known_floor` is the mean intensity of noise, if the volume states it.
SurfaceTables surface_tables(const Size3& size, const std::vector<BoundaryOptions>& wanted, bool tissue_below,
                             std::optional<double> known_floor);

// Returns the search on the CPU. `intensity`, [b_scan][a_scan][depth], must outlive it; values that are not finite are
// missing voxels.
std::unique_ptr<BoundarySearch> boundary_search_on_cpu(const float* intensity, const SurfaceTables& tables);

}  // namespace echolux
