#include "engine/validation/topics.h"

#include <cmath>
#include <cstring>

#include "compute/indexing.h"

namespace echolux {
namespace {

Place place_in(std::vector<std::byte>& voxels, const VolumeGrid& grid) {
    voxels.resize(index(grid.bytes()));
    return packed_place(voxels.data(), grid);
}

}  // namespace

std::string ValidationRun::backends() const {
    std::string all;
    for (const std::string& name : backends_) all += (all.empty() ? "" : ", ") + name;
    return all;
}

ReconstructedBlock ValidationRun::reconstructed(ReconstructionSpec spec, std::span<const std::byte> spectra) {
    spec.block_b_scans = spec.geometry.b_scans;
    const auto reconstructor = make_reconstructor(spec, {.backend = backend_});
    backends_.insert(reconstructor->backend());
    Block block;
    block.data = spectra.data();
    block.bytes = std::ssize(spectra);
    block.b_scans = spec.geometry.b_scans;
    ReconstructedBlock result{reconstructor->grid(), {}, {}};
    Places places(place_in(result.structure, result.grid));
    if (reconstructor->flow_grid()) places.flow = place_in(result.flow, *reconstructor->flow_grid());
    reconstructor->wait(reconstructor->submit(block, places));
    progress_.advance(0);  // allows cancelling
    return result;
}

std::vector<std::complex<float>> ValidationRun::bins(ReconstructionSpec spec, std::span<const float> spectra) {
    spec.recipe.quantity = Quantity::complex;
    spec.recipe.voxel = VoxelType::complex64;
    const ReconstructedBlock block = reconstructed(spec, std::as_bytes(spectra));
    std::vector<std::complex<float>> bins(index(block.grid.voxels()));
    std::memcpy(bins.data(), block.structure.data(), block.structure.size());
    return bins;
}

std::vector<double> ValidationRun::amplitudes(const ReconstructionSpec& spec, std::span<const float> spectra) {
    std::vector<double> values;
    for (const std::complex<float>& bin : bins(spec, spectra)) values.push_back(std::abs(std::complex<double>(bin)));
    return values;
}

ReconstructionSpec bare_spec(std::int64_t samples, std::int64_t lines) {
    ReconstructionSpec spec;
    spec.format.sample_format = SampleFormat::f32;
    spec.geometry.samples = samples;
    spec.geometry.a_scans = lines;
    spec.geometry.b_scans = 1;
    spec.recipe.background = Background::none;
    spec.recipe.resample = Resample::none;
    spec.recipe.window = Window::rect;
    spec.recipe.dispersion = false;
    spec.recipe.levels = Levels::fixed;
    return spec;
}

double decibels(double amplitude_ratio) {
    return 20 * std::log10(amplitude_ratio);
}

}  // namespace echolux
