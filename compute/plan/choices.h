// What the settings of a spec come to: defaults resolved, and what follows from them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/params.h"
#include "compute/types.h"

namespace echolux {

// recipe.background with `automatic` resolved.
Background chosen_background(const Recipe& recipe, const Calibration& calibration);

// recipe.resample, or none where neither a k map nor its jitter is given.
Resample chosen_resample(const Recipe& recipe, const Calibration& calibration);

// Whether whole B-scans have to be kept as complex depth bins before voxels can be made.
bool needs_whole_b_scans(const Recipe& recipe);

// Whether the level that counts as 0 dB has to be measured before the plan is made (compute/calibrate).
bool needs_noise_floor(const Recipe& recipe, const FlowRecipe& flow);

// Whether the codes of each B-scan span its own least to its greatest value.
bool needs_frame_range(const Recipe& recipe);

// [begin, end) of the depth bins kept, zero-padded ones included.
struct DepthRange {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};
DepthRange kept_depth(const Recipe& recipe, std::int64_t bins);

// B-scans of a volume for each position along the slow axis: several where repeats lie side by side.
inline std::int64_t slices_per_b_scan(const VolumeGrid& grid, const ScanGeometry& geometry) {
    return grid.b_scans / geometry.b_scans;
}

// Strictly monotone. Throws Error{bad_setting} naming `where`.
void require_monotone(const std::vector<double>& numbers, const std::string& where);

// Strictly monotone and, but for 1 % of the samples, inside the spectrum. Throws Error{bad_setting} naming `where`.
void check_k_positions(const std::vector<double>& positions, std::int64_t samples, const std::string& where);

// Strictly monotone, and of light that OCT uses. Throws Error{bad_setting} naming `where`.
void check_wavelengths(const std::vector<double>& wavelengths_nm, const std::string& where);

}  // namespace echolux
