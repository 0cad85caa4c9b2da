// Where the boundaries lie, to about two voxels: the mean profile of each block of A-scans is cut into its most likely
// layers, and what the blocks say is spread over their A-scans. It also tells tissue from noise.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compute/layers.h"
#include "engine/analysis/intensity.h"
#include "engine/layers/lateral.h"
#include "engine/layers/layer_recipe.h"

namespace echolux {

struct CoarseLayers {
    std::vector<std::vector<float>> places;  // [boundary][A-scan]: the row that begins below it, as a real number
    std::vector<std::uint8_t> has_signal;    // of each A-scan
    double floor = 0;                        // mean intensity of noise
    bool is_found = false;                   // anywhere
    bool has_tissue = false;                 // anywhere: without places, distances and polarities fit nowhere
};

// `intensity`: [b_scan][a_scan][depth]; what is no number counts as not there. `known_floor`: mean intensity
// of noise, where the volume says it.
CoarseLayers coarse_layers(const std::vector<float>& intensity, const Size3& size,
                           const std::vector<WantedBoundary>& wanted, bool tissue_below,
                           std::optional<double> known_floor);

// Which blocks of A-scans are averaged.
BlockAxis blocks_along_a(const Size3& size);
BlockAxis blocks_along_b(const Size3& size);

// `floor`: mean intensity of noise.
SignalLevels signal_levels(std::int64_t rows, double floor);

// What a GPU needs to know of all that: `tables.size` is set.
void set_coarse(SurfaceTables& tables, const std::vector<WantedBoundary>& wanted, bool tissue_below,
                std::optional<double> known_floor);

}  // namespace echolux
