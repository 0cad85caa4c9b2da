// Measures the 0 dB level in the quietest depth band, so that users need not name a region without signal.
#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/probe.h"

namespace echolux {
namespace {

constexpr std::int64_t bands = 16;

double median(std::vector<float>& values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return static_cast<double>(*middle);
}

}  // namespace

double measured_noise_floor_db(const ReconstructionSpec& spec, const Block& block) {
    Recipe recipe = spec.recipe;
    recipe.quantity = Quantity::db;
    recipe.voxel = VoxelType::f32;
    recipe.levels = Levels::fixed;
    recipe.noise_floor = NoiseFloor::none;  // after subtraction, the remaining noise has no level
    if (recipe.method == Method::compressive) recipe.method = Method::plain;  // sparse results contain no noise
    ReconstructionSpec noisy = spec;
    noisy.defr.residual = true;
    const ProbedBlock probe = probed(noisy, recipe, block);
    const auto* db = reinterpret_cast<const float*>(probe.voxels.data());

    const std::int64_t depth = probe.grid.depth;
    const std::int64_t begin = first_row_past_zero_delay(depth);
    const std::int64_t width = std::max<std::int64_t>(1, depth / bands);
    double floor = 0;
    std::vector<float> band;
    for (std::int64_t z = begin; z + width <= depth; z += width) {
        band.clear();
        for (std::int64_t line = 0; line < probe.grid.a_scans * probe.grid.b_scans; ++line) {
            const float* values = db + line * depth;
            band.insert(band.end(), values + z, values + z + width);
        }
        const double level = median(band);
        if (z == begin || level < floor) floor = level;
    }
    return floor;
}

double noise_floor_for_recipe(const ReconstructionSpec& spec, const Block& block) {
    constexpr double nothing_db = -199;
    const double level = measured_noise_floor_db(spec, block);
    return level < nothing_db ? 0 : std::round(level * 100) / 100;
}

}  // namespace echolux
