// Layer boundaries of a volume of layered tissue, without any prior but their number. The surface is the strongest step
// of averaged intensity; relative to it the mean profile shows the other boundaries, which are then followed over the
// volume. Steps are sought in intensity: there the axial point spread is symmetric and moves no edge.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/analysis/intensity.h"
#include "engine/io/volume_file.h"

namespace echolux {

struct Layers {
    std::int64_t a_scans = 0;
    std::int64_t b_scans = 0;
    std::vector<std::vector<float>> boundaries;  // from above; each [b_scan][a_scan] in depth rows, voxel centres whole

    const std::vector<float>& surface() const { return boundaries.front(); }
};

// Throws Error{bad_setting} when fewer than `count` boundaries can be told apart.
Layers find_layers(const Volume& volume, std::int64_t count);

// Intensities shifted in depth so that `height` (in rows) lies at row `row` of `rows`.
std::vector<float> flattened(const std::vector<float>& intensity, const Size3& size, const std::vector<float>& height,
                             std::int64_t row, std::int64_t rows);

}  // namespace echolux
