#include "compute/methods/nufft.h"

#include <utility>

#include "compute/methods/sample_points.h"
#include "compute/plan/choices.h"
#include "compute/plan/tables.h"

namespace echolux {

bool uses_nufft(const ReconstructionSpec& spec) {
    return chosen_resample(spec.recipe, spec.calibration) == Resample::nufft;
}

FinerGrid finer_grid_of(const NufftRecipe& recipe, std::vector<double> points, std::int64_t length, std::int64_t first,
                        std::int64_t bins) {
    const SpreadingKernel kernel(recipe);
    FinerGrid finer;
    finer.grid = finer_grid(recipe, length);
    const double ratio = static_cast<double>(finer.grid) / static_cast<double>(length);
    for (double& point : points) point *= ratio;
    finer.spread = spread_samples(kernel, points, finer.grid);
    for (std::int64_t z = first; z < first + bins; ++z) {
        const double cycles = static_cast<double>(z) / static_cast<double>(finer.grid);
        finer.correction.push_back(static_cast<float>(1 / kernel.transform(cycles)));
    }
    return finer;
}

NufftTables nufft_tables(const ReconstructionSpec& spec) {
    const Lengths lengths = lengths_of(spec.geometry, spec.recipe);
    const DepthRange kept = kept_depth(spec.recipe, lengths.bins);
    const SamplePoints samples = sample_points(spec);
    NufftTables tables;
    for (const std::complex<double>& weight : samples.weights) {
        tables.weights.emplace_back(weight);
        tables.real = tables.real && tables.weights.back().imag() == 0;
    }
    FinerGrid finer = finer_grid_of(spec.nufft, samples.points, lengths.transform, kept.begin, kept.end - kept.begin);
    tables.grid = finer.grid;
    tables.spread = std::move(finer.spread);
    tables.correction = std::move(finer.correction);
    tables.first_bin = kept.begin;
    return tables;
}

}  // namespace echolux
