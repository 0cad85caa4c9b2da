// The attenuation coefficient of each voxel, by the depth-resolved model of single scattering: 1/mm instead of a
// brightness that depends on what lies above.
#pragma once

#include <cstdint>
#include <string>

#include "compute/plan/describe.h"
#include "engine/io/volume_file.h"
#include "engine/progress.h"

namespace echolux {

// Section [attenuation] of the settings; described in attenuation.cpp.
struct AttenuationRecipe {
    std::int64_t window_a_scans = 5;
    std::int64_t window_b_scans = 5;
    double noise_floor_db = 0;  // 0: found
    double min_snr_db = -3;
    std::int64_t tail_rows = 120;
    double roll_off_db_per_mm = 0;  // 0: not corrected
    double focus_um = 0;
    double rayleigh_um = 0;  // 0: not corrected
};

template <>
const std::vector<Field<AttenuationRecipe>>& describe<AttenuationRecipe>();

struct AttenuationStats {
    double known = 0;    // share of the voxels that have a value
    double no_tail = 0;  // share of the A-scans with tissue that do not get darker at their end: nothing is said of
                         // what lies so deep that more than a tenth of its light may come from below the end
    double noise_floor_db = 0;
};

// 1/mm in f32, NaN where nothing is known: above and below the tissue, and where the end cannot be judged. The same
// bits for any number of threads. Throws Error{bad_setting}: of voxels that are no brightness, or without a depth
// spacing; Error{out_of_memory}.
Volume attenuation_of(const Volume& volume, const AttenuationRecipe& recipe, AttenuationStats& stats,
                      Progress& progress);

}  // namespace echolux
