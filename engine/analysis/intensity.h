// Linear intensity of volumes, smoothing, and values of flow codes. Speckle must be averaged in intensity: in dB, edges
// would move towards the dark side.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/io/volume_file.h"

namespace echolux {

// Returns linear intensity, [b_scan][a_scan][depth], for any real quantity. Throws Error{bad_setting} for complex
// voxels.
std::vector<float> linear_intensity(const Volume& volume);

// Size in memory order: depth, A-scans, B-scans.
using Size3 = std::array<std::int64_t, 3>;

// Returns an odd number of weights that extend to three sigma and sum to 1.
std::vector<float> gaussian_weights(double sigma);

// Applies a Gaussian mean in place, with `sigma` in voxels along depth, A-scans and B-scans. 0 skips an axis. End
// values extend beyond the ends.
void smooth(std::vector<float>& values, const Size3& size, const std::array<double, 3>& sigma);

// Converts flow codes to numbers that any program can read. Returns f32: phasors as axial velocities in mm/s, or as
// phases in rad if v_max is unknown; half floats unchanged. 0 where the flow is unknown.
Volume flow_values(const Volume& codes);

}  // namespace echolux
