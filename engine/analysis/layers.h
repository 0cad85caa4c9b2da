// Layer boundaries of layered tissue, without priors except their number. The surface is the strongest step of averaged
// intensity. Relative to it, the mean profile shows the other boundaries, which are then followed over the volume.
// Steps are searched in intensity, where the axial point spread is symmetric and does not shift edges.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/analysis/intensity.h"
#include "engine/io/volume_file.h"

namespace echolux {

struct Layers {
    std::int64_t a_scans = 0;
    std::int64_t b_scans = 0;
    std::vector<std::vector<float>> boundaries;  // from the top; each is [b_scan][a_scan] in depth rows, voxel centres
                                                 // at integers

    const std::vector<float>& surface() const { return boundaries.front(); }
};

// Finds `count` boundaries. Throws Error{bad_setting} if fewer are distinguishable.
Layers find_layers(const Volume& volume, std::int64_t count);

// Returns intensities, shifted in depth so that `height` (in rows) is at row `row` of `rows`.
std::vector<float> flattened(const std::vector<float>& intensity, const Size3& size, const std::vector<float>& height,
                             std::int64_t row, std::int64_t rows);

}  // namespace echolux
