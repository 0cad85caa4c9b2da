#include "engine/validation/validation_run.h"

#include <cmath>
#include <cstring>

#include "compute/indexing.h"

namespace echolux {
namespace {

Place place_in(std::vector<std::byte>& voxels, const VolumeGrid& grid) {
    voxels.resize(index(grid.bytes()));
    const std::int64_t a_scan_bytes = grid.depth * bytes_of(grid.type);
    return {PlaceKind::host_linear, voxels.data(), 0, a_scan_bytes, grid.a_scans * a_scan_bytes};
}

}  // namespace

std::string ValidationRun::backends() const {
    std::string all;
    for (const std::string& name : backends_) all += (all.empty() ? "" : ", ") + name;
    return all;
}

ReconstructedBlock ValidationRun::reconstructed(ReconstructionSpec plan, std::span<const std::byte> spectra) {
    plan.block_b_scans = plan.geometry.b_scans;
    const auto reconstructor = make_reconstructor(plan, {.backend = backend_});
    backends_.insert(reconstructor->backend());
    Block block;
    block.data = spectra.data();
    block.bytes = std::ssize(spectra);
    block.b_scans = plan.geometry.b_scans;
    ReconstructedBlock result{reconstructor->grid(), {}, {}};
    Places places(place_in(result.structure, result.grid));
    if (reconstructor->flow_grid()) places.flow = place_in(result.flow, *reconstructor->flow_grid());
    reconstructor->wait(reconstructor->submit(block, places));
    progress_.advance(0);  // a chance to cancel
    return result;
}

std::vector<std::complex<float>> ValidationRun::bins(ReconstructionSpec plan, std::span<const float> spectra) {
    plan.recipe.quantity = Quantity::complex;
    plan.recipe.voxel = VoxelType::complex64;
    const ReconstructedBlock block = reconstructed(plan, std::as_bytes(spectra));
    std::vector<std::complex<float>> bins(index(block.grid.voxels()));
    std::memcpy(bins.data(), block.structure.data(), block.structure.size());
    return bins;
}

std::vector<double> ValidationRun::amplitudes(const ReconstructionSpec& plan, std::span<const float> spectra) {
    std::vector<double> values;
    for (const std::complex<float>& bin : bins(plan, spectra)) values.push_back(std::abs(std::complex<double>(bin)));
    return values;
}

ReconstructionSpec bare_plan(std::int64_t samples, std::int64_t lines) {
    ReconstructionSpec plan;
    plan.format.sample_format = SampleFormat::f32;
    plan.geometry.samples = samples;
    plan.geometry.a_scans = lines;
    plan.geometry.b_scans = 1;
    plan.recipe.background = Background::none;
    plan.recipe.resample = Resample::none;
    plan.recipe.window = Window::rect;
    plan.recipe.dispersion = false;
    plan.recipe.levels = Levels::fixed;
    return plan;
}

double decibels(double amplitude_ratio) {
    return 20 * std::log10(amplitude_ratio);
}

}  // namespace echolux
