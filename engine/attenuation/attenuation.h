// Attenuation coefficient per voxel by the depth-resolved model of single scattering. Unlike brightness, the value in
// 1/mm does not depend on the tissue above.
#pragma once

#include <cstdint>
#include <string>

#include "compute/plan/described.h"
#include "engine/io/volume_file.h"
#include "engine/progress.h"

namespace echolux {

// Section [attenuation] of the settings; described in attenuation.cpp.
struct AttenuationRecipe {
    std::int64_t window_a_scans = 5;
    std::int64_t window_b_scans = 5;
    double noise_floor_db = 0;  // automatic if 0
    double min_snr_db = -3;
    std::int64_t tail_rows = 120;
    double roll_off_db_per_mm = 0;  // no correction if 0
    double focus_um = 0;
    double rayleigh_um = 0;  // no correction if 0
};

template <>
const std::vector<Field<AttenuationRecipe>>& describe<AttenuationRecipe>();

struct AttenuationStats {
    double known = 0;  // share of voxels with a value
    // Share of A-scans with tissue that do not get darker towards their end. They have no values where more than a
    // tenth of the light may come from below the end.
    double no_tail = 0;
    double noise_floor_db = 0;
};

// Returns 1/mm as f32. NaN above and below the tissue, and where the light from below the end is uncertain. The result
// does not depend on the number of threads. Throws Error{bad_setting} for voxels that are not brightness or have no
// depth spacing, and Error{out_of_memory}.
Volume attenuation_of(const Volume& volume, const AttenuationRecipe& recipe, AttenuationStats& stats,
                      Progress& progress);

}  // namespace echolux
