#include "compute/calibrate/mean_profile.h"

#include <cmath>

#include "compute/indexing.h"

namespace echolux {
namespace {

// Returns the spec with uncropped float amplitudes as output.
ReconstructionSpec for_amplitudes(ReconstructionSpec spec) {
    spec.flow = {};
    spec.calibration.noise_floor.clear();
    spec.geometry.depth_flip = false;
    spec.recipe.depth_begin = 0;
    spec.recipe.depth_end = 0;
    spec.recipe.noise_floor = NoiseFloor::none;
    spec.recipe.quantity = Quantity::amplitude;
    spec.recipe.voxel = VoxelType::f32;
    spec.recipe.levels = Levels::fixed;
    return spec;
}

}  // namespace

MeanProfile::MeanProfile(const ReconstructionSpec& spec) : reconstructor_(plan_on_cpu(for_amplitudes(spec))) {
    amplitudes_.resize(index(grid().depth * grid().a_scans * spec.block_b_scans));
    sum_.resize(index(grid().depth));
    power_.resize(sum_.size());
}

void MeanProfile::add(const Block& block) {
    reconstructor_->wait(reconstructor_->submit(block, packed_place(amplitudes_.data(), grid(), block.first_b_scan)));
    const std::int64_t lines = block.b_scans * grid().a_scans;
    for (std::int64_t line = 0; line < lines; ++line) {
        const float* of_line = amplitudes_.data() + line * grid().depth;
        for (std::size_t z = 0; z < sum_.size(); ++z) {
            const auto a = static_cast<double>(of_line[z]);
            sum_[z] += a;
            power_[z] += a * a;
        }
    }
    lines_ += lines;
}

std::vector<double> MeanProfile::mean(const std::vector<double>& sum) const {
    std::vector<double> mean = sum;
    for (double& value : mean) value /= static_cast<double>(lines_);
    return mean;
}

std::vector<double> MeanProfile::amplitude() const {
    return mean(sum_);
}

std::vector<double> MeanProfile::root_mean_power() const {
    std::vector<double> root = mean(power_);
    for (double& value : root) value = std::sqrt(value);
    return root;
}

}  // namespace echolux
