#include "compute/methods/nufft.h"

#include "compute/methods/sample_points.h"
#include "compute/tables.h"
#include "compute/validate.h"

namespace echolux {

bool uses_nufft(const ReconstructionPlan& plan) {
    return chosen_resample(plan.recipe, plan.calibration) == Resample::nufft;
}

std::vector<float> kernel_correction(const SpreadingKernel& kernel, std::int64_t grid, std::int64_t first,
                                     std::int64_t bins) {
    std::vector<float> correction;
    for (std::int64_t z = first; z < first + bins; ++z) {
        const double cycles = static_cast<double>(z) / static_cast<double>(grid);
        correction.push_back(static_cast<float>(1 / kernel.transform(cycles)));
    }
    return correction;
}

NufftTables nufft_tables(const ReconstructionPlan& plan) {
    const Lengths lengths = lengths_of(plan.geometry, plan.recipe);
    const DepthRange kept = kept_depth(plan.recipe, lengths.bins);
    const SamplePoints samples = sample_points(plan);
    const SpreadingKernel kernel(plan.nufft);
    NufftTables tables;
    for (const std::complex<double>& weight : samples.weights) {
        tables.weights.emplace_back(weight);
        tables.real = tables.real && tables.weights.back().imag() == 0;
    }
    tables.grid = finer_grid(plan.nufft, lengths.transform);
    const double finer = static_cast<double>(tables.grid) / static_cast<double>(lengths.transform);
    std::vector<double> places = samples.points;
    for (double& place : places) place *= finer;
    tables.spread = spread_samples(kernel, places, tables.grid);
    tables.first_bin = kept.begin;
    tables.correction = kernel_correction(kernel, tables.grid, kept.begin, kept.end - kept.begin);
    return tables;
}

}  // namespace echolux
