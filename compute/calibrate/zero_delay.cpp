// Measures the share of the light at zero delay. With a k map in another unit, all points of the k grid come from one
// place of the spectrum, so lines become constant and have no depth.
#include <algorithm>

#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/probe.h"

namespace echolux {

double share_at_zero_delay(const ReconstructionSpec& given, const Block& block) {
    constexpr std::int64_t bins = 3;  // main lobe of the Hann window
    constexpr std::int64_t max_lines = 64;
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
    recipe.method = Method::plain;
    recipe.background = Background::rolling;  // removes the slow source spectrum before the k map is applied
    recipe.rolling_width = std::min<std::int64_t>(32, spec.geometry.samples / 4);
    recipe.fixed_pattern = FixedPattern::none;
    recipe.window = Window::hann;
    recipe.shaping = Shaping::none;
    recipe.zero_padding = 1;
    recipe.average = Average::none;
    recipe.noise_floor = NoiseFloor::none;
    recipe.quantity = Quantity::intensity;
    recipe.voxel = VoxelType::f32;
    const ProbedBlock probe = probed(spec, recipe, first);
    const auto* power = reinterpret_cast<const float*>(probe.voxels.data());
    double near = 0, all = 0;
    for (std::int64_t i = 0; i < probe.grid.voxels(); ++i) {
        const auto value = static_cast<double>(power[i]);
        all += value;
        if (i % probe.grid.depth < bins) near += value;
    }
    return all > 0 ? near / all : 0;
}

}  // namespace echolux
