// Measures the share of a depth profile that a sparse search leaves empty.
#include <algorithm>

#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/probe.h"

namespace echolux {

double empty_share(const ReconstructionSpec& given, const Block& block) {
    constexpr std::int64_t max_lines = 16;
    ReconstructionSpec spec = given;
    spec.geometry = {};
    spec.geometry.samples = given.geometry.samples;
    spec.geometry.a_scans = std::min(max_lines, given.geometry.lines_per_b_scan());
    spec.calibration.fast_axis.clear();
    spec.calibration.noise_floor.clear();
    Block first = block;
    first.bytes = spec.geometry.a_scans * line_bytes(spec.format, spec.geometry);
    first.b_scans = 1;
    first.frames.stride_bytes = 0;
    Recipe recipe = spec.recipe;
    recipe.quantity = Quantity::intensity;
    recipe.voxel = VoxelType::f32;
    recipe.fixed_pattern = FixedPattern::none;
    recipe.average = Average::none;
    recipe.noise_floor = NoiseFloor::none;
    const ProbedBlock probe = probed(spec, recipe, first);
    const auto* power = reinterpret_cast<const float*>(probe.voxels.data());
    const std::int64_t voxels = probe.grid.voxels();
    return static_cast<double>(std::count(power, power + voxels, 0.0f)) / static_cast<double>(voxels);
}

}  // namespace echolux
