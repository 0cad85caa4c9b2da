// What it costs a boundary to lie at each of a few rows around its present place, in every A-scan: the likelihood of
// the intensities above and below it, given the mean brightness of the two layers nearby.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/layers.h"
#include "engine/analysis/intensity.h"

namespace echolux {

// [boundary][A-scan][lane]: label l lies l - boundary_reach rows below the present place.
using BoundaryCosts = std::vector<std::vector<float>>;

// How neighbouring A-scans and B-scans count in the mean of a layer: the middle, and each distance from it.
const std::vector<float>& layer_mean_weights();

// The least mean of a layer, with `floor` the mean intensity of noise.
float least_layer_mean(double floor);

inline constexpr double contrast_sigma = 3;  // A-scans, B-scans over which the sides of a boundary are averaged
float contrast_margin(double floor);         // that is added to them

// A-scans without signal cost nothing anywhere, nor do those with voxels that are no numbers among the places. `floor`:
// mean intensity of noise.
BoundaryCosts boundary_costs(const std::vector<float>& intensity, const Size3& size, const BoundaryRows& rows,
                             const std::vector<std::uint8_t>& has_signal, double floor);

// [A-scan]: by how many dB the voxels just below a boundary are brighter than those just above it, neighbouring A-scans
// averaged; layers that are too thin to tell are skipped. NaN where there is no signal, and at the ends of the A-scan.
std::vector<float> contrast_db(const std::vector<float>& intensity, const Size3& size, const BoundaryRows& rows,
                               std::size_t boundary, const std::vector<std::uint8_t>& has_signal, double floor);

}  // namespace echolux
