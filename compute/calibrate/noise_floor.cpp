// The level that counts as 0 dB: found in the quietest depth band, so that no signal-free region has to be named.
#include <algorithm>
#include <vector>

#include "compute/reconstructor.h"

namespace echolux {
namespace {

constexpr double zero_delay_share = 0.05;  // of the depth: autocorrelation and the foot of the DC peak
constexpr std::int64_t bands = 16;

double median(std::vector<float>& values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return static_cast<double>(*middle);
}

}  // namespace

double measured_noise_floor_db(const ReconstructionPlan& given, const Block& block) {
    ReconstructionPlan plan = given;
    plan.recipe.quantity = Quantity::db;
    plan.recipe.voxel = VoxelType::f32;
    plan.recipe.levels = Levels::fixed;
    plan.recipe.depth_begin = 0;
    plan.recipe.depth_end = 0;
    plan.geometry.depth_flip = false;
    plan.geometry.b_scans = block.b_scans;
    plan.block_b_scans = block.b_scans;
    Block first = block;
    first.first_b_scan = 0;

    const auto reconstructor = plan_on_cpu(plan);
    const VolumeGrid& grid = reconstructor->grid();
    std::vector<float> db(static_cast<std::size_t>(grid.voxels()));
    const std::int64_t line_bytes = grid.depth * bytes_of(grid.type);
    reconstructor->wait(
        reconstructor->submit(first, {PlaceKind::host_linear, db.data(), 0, line_bytes, grid.a_scans * line_bytes}));

    const auto begin = static_cast<std::int64_t>(zero_delay_share * static_cast<double>(grid.depth)) + 1;
    const std::int64_t width = std::max<std::int64_t>(1, grid.depth / bands);
    double floor = 0;
    std::vector<float> band;
    for (std::int64_t z = begin; z + width <= grid.depth; z += width) {
        band.clear();
        for (std::int64_t line = 0; line < grid.a_scans * grid.b_scans; ++line) {
            const float* values = db.data() + line * grid.depth;
            band.insert(band.end(), values + z, values + z + width);
        }
        const double level = median(band);
        if (z == begin || level < floor) floor = level;
    }
    return floor;
}

}  // namespace echolux
