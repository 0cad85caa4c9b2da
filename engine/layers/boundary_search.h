// CPU implementation of the boundary search, the reference for compute/tissue_on_gpu.h.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compute/tissue_on_gpu.h"
#include "engine/analysis/intensity.h"
#include "engine/layers/coarse_layers.h"

namespace echolux {

// Keeps references to the arguments.
std::unique_ptr<BoundarySearch> boundary_search_on_cpu(const std::vector<float>& intensity, const Size3& size,
                                                       const CoarseLayers& coarse);

// Cost of each boundary at each of a few rows around its present position, per A-scan. The cost is the negative log
// likelihood of the intensities above and below it, given the mean brightness of the two layers nearby.

// [boundary][A-scan][lane]: label l is l - boundary_reach rows below the present position.
using BoundaryCosts = std::vector<std::vector<float>>;

// Returns the weights of neighbouring A-scans and B-scans in a layer's mean: first the centre, then each distance from
// it.
const std::vector<float>& layer_mean_weights();

// Returns the lower limit of a layer's mean. `floor` is the mean intensity of noise.
float least_layer_mean(double floor);

inline constexpr double contrast_sigma = 3;  // A-scans and B-scans; smoothing of the two sides of a boundary
float contrast_margin(double floor);         // added to both sides of a boundary before dividing

// Computes the costs of all boundaries. Costs are 0 for A-scans without signal or with voxels that are not finite in
// the searched rows. `floor` is the mean intensity of noise.
BoundaryCosts boundary_costs(const std::vector<float>& intensity, const Size3& size, const BoundaryRows& rows,
                             const std::vector<std::uint8_t>& has_signal, double floor);

// Returns per A-scan the contrast in dB of the voxels just below a boundary over those just above it, averaged over
// neighbouring A-scans. Layers that are too thin are skipped. NaN without signal and at the ends of the A-scan.
std::vector<float> contrast_db(const std::vector<float>& intensity, const Size3& size, const BoundaryRows& rows,
                               std::size_t boundary, const std::vector<std::uint8_t>& has_signal, double floor);

}  // namespace echolux
