// Coarse positions of boundaries, to about two voxels. The mean profile of each block of A-scans is cut into its most
// likely layers, and the blocks' positions are interpolated to all A-scans. Also separates tissue from noise.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compute/tissue_on_gpu.h"
#include "engine/analysis/intensity.h"
#include "engine/layers/layer_recipe.h"
#include "engine/layers/map_smoothing.h"

namespace echolux {

struct CoarseLayers {
    std::vector<std::vector<float>> places;  // [boundary][A-scan]: the row that begins below the boundary, fractions
                                             // included
    std::vector<std::uint8_t> has_signal;    // per A-scan
    double floor = 0;                        // mean intensity of noise
    bool is_found = false;                   // boundaries were found in any block
    bool has_tissue = false;                 // in any block; without is_found, the distances and polarities fit nowhere
};

// Finds the boundaries in `intensity`, [b_scan][a_scan][depth]; values that are not finite are missing voxels.
// `known_floor` is the mean intensity of noise, if the volume states it.
CoarseLayers coarse_layers(const std::vector<float>& intensity, const Size3& size,
                           const std::vector<WantedBoundary>& wanted, bool tissue_below,
                           std::optional<double> known_floor);

// Return the division of A-scans and B-scans into blocks.
BlockAxis blocks_along_a(const Size3& size);
BlockAxis blocks_along_b(const Size3& size);

// Returns the thresholds that separate tissue from noise. `floor` is the mean intensity of noise.
SignalLevels signal_levels(std::int64_t rows, double floor);

// Fills the tables that a GPU needs for the coarse search. `tables.size` must be set.
void set_coarse(SurfaceTables& tables, const std::vector<WantedBoundary>& wanted, bool tissue_below,
                std::optional<double> known_floor);

}  // namespace echolux
