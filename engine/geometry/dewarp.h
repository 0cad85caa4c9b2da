// Resamples a volume to a Cartesian grid in mm by the inverse of a BeamMap.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compute/plan/described.h"
#include "engine/geometry/beam_map.h"
#include "engine/io/volume_file.h"
#include "engine/progress.h"

namespace echolux {

enum class Interpolation { nearest, linear, cubic };

// Section [dewarp] of the settings.
struct DewarpRecipe {
    std::vector<double> voxel_um{};  // along z, x and y, or one number for all; empty: the spacing of the samples
    Interpolation interpolation = Interpolation::cubic;
};

template <>
const std::vector<Field<DewarpRecipe>>& describe<DewarpRecipe>();

// A volume on a Cartesian grid: depth is z, A-scans are x, B-scans are y. Of a catheter, depth is y, A-scans are x, and
// B-scans are z along the catheter.
struct DewarpedVolume {
    Volume volume;      // f32; phasors and complex voxels keep their type
    Position first;     // of the first voxel
    double inside = 0;  // share of voxels with a value
};

// Values are interpolated as linear intensity (dB, amplitude), as complex numbers (complex voxels, phasors), or as they
// are (velocities, angiography, labels). Optic axes are those of the nearest sample. Voxels that no beam passes are
// NaN, or 0 in phasors. A cubic that overshoots below zero intensity is replaced by a linear one. `progress` advances
// by 1 per B-scan of the result. Throws Error{bad_setting, out_of_memory, cancelled}.
DewarpedVolume dewarped(const Volume& volume, const BeamMap& map, const DewarpRecipe& recipe, Progress& progress);

// Returns the sum of the voxels of `made` as a cubic of 64 samples of f32 each, at exact places, to compare its time.
double sum_of_exact_voxels(const Volume& volume, const BeamMap& map, const DewarpedVolume& made);

}  // namespace echolux
