// Intensities of a volume, and averaging them: speckle has to be averaged in intensity, not in dB, where edges move
// towards the dark side.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/io/volume_file.h"

namespace echolux {

// [b_scan][a_scan][depth], linear, whatever quantity the volume holds. Throws Error{bad_setting} for complex voxels.
std::vector<float> linear_intensity(const Volume& volume);

// A box in memory order: depth, A-scans, B-scans.
using Size3 = std::array<std::int64_t, 3>;

// An odd number of them, which reach three sigmas and have the sum 1.
std::vector<float> gaussian_weights(double sigma);

// Gaussian mean in place, `sigma` in voxels along depth, A-scans, B-scans; 0 leaves an axis as it is. Beyond the ends
// the end value goes on.
void smooth(std::vector<float>& values, const Size3& size, const std::array<double, 3>& sigma);

}  // namespace echolux
