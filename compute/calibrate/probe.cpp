#include "compute/calibrate/probe.h"

#include <algorithm>
#include <complex>

#include "compute/fft/fft.h"
#include "compute/indexing.h"
#include "compute/plan/tables.h"
#include "compute/reconstructor.h"

namespace echolux {

ProbedBlock probed(const ReconstructionSpec& given, const Recipe& recipe, const Block& block) {
    ReconstructionSpec spec = given;
    spec.recipe = recipe;
    spec.flow = {};
    spec.calibration.k_jitter.clear();  // the block's position in time is unknown here: use the nominal k map
    spec.recipe.depth_begin = 0;
    spec.recipe.depth_end = 0;
    spec.geometry.depth_flip = false;
    spec.geometry.b_scans = block.b_scans;
    spec.block_b_scans = block.b_scans;
    Block first = block;
    first.first_b_scan = 0;

    const auto reconstructor = plan_on_cpu(spec);
    ProbedBlock probe{reconstructor->grid(), {}};
    probe.voxels.resize(static_cast<std::size_t>(probe.grid.bytes()));
    reconstructor->wait(reconstructor->submit(first, packed_place(probe.voxels.data(), probe.grid)));
    return probe;
}

// Inverse transform of each line. Bins outside the stored range are zero.
std::vector<float> spectra_of(std::span<const std::complex<float>> bins, std::int64_t samples, double scale) {
    const std::int64_t depth = samples / 2, lines = std::ssize(bins) / depth;
    const auto factor = static_cast<float>(scale / static_cast<double>(samples));
    Fft backwards(Fft::Kind::real_inverse, samples);
    std::vector<float> spectra;
    spectra.reserve(index(lines * samples));
    for (std::int64_t line = 0; line < lines; ++line) {
        std::fill_n(backwards.complex_in(), samples / 2 + 1, std::complex<float>());
        std::transform(bins.begin() + line * depth, bins.begin() + (line + 1) * depth, backwards.complex_in(),
                       [factor](std::complex<float> bin) { return bin * factor; });
        backwards.execute();
        spectra.insert(spectra.end(), backwards.real(), backwards.real() + samples);
    }
    return spectra;
}

std::vector<float> windowed_spectra(const ReconstructionSpec& spec, const Block& block) {
    Recipe recipe = spec.recipe;
    recipe.method = Method::plain;
    recipe.dispersion = false;
    recipe.fixed_pattern = FixedPattern::none;
    recipe.average = Average::none;
    recipe.noise_floor = NoiseFloor::none;
    recipe.zero_padding = 1;
    recipe.quantity = Quantity::complex;
    recipe.voxel = VoxelType::complex64;
    ReconstructionSpec without_floor = spec;
    without_floor.calibration.noise_floor.clear();
    const ProbedBlock probe = probed(without_floor, recipe, block);
    const auto* bins = reinterpret_cast<const std::complex<float>*>(probe.voxels.data());

    const std::int64_t n = spec.geometry.samples, depth = probe.grid.depth;
    const double sum = spectral_weight(recipe, spec.calibration, k_grid(spec.calibration, n)).sum;
    return spectra_of({bins, index(depth * probe.grid.a_scans * probe.grid.b_scans)}, n, sum);
}

std::int64_t first_row_past_zero_delay(std::int64_t depth) {
    constexpr double share = 0.05;
    return static_cast<std::int64_t>(share * static_cast<double>(depth)) + 1;
}

}  // namespace echolux
