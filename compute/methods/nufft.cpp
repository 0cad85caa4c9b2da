#include "compute/methods/nufft.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "compute/methods/sample_points.h"
#include "compute/plan/tables.h"

namespace echolux {

bool uses_nufft(const ReconstructionSpec& spec) {
    return chosen_resample(spec.recipe, spec.calibration) == Resample::nufft;
}

GridBand both_sides(std::int64_t transform) {
    return {transform, 0};
}

GridBand one_side(std::int64_t bins) {
    return {bins, bins / 2};
}

std::vector<std::complex<double>> turned_to_middle(const GridBand& band, const std::vector<double>& points,
                                                   std::int64_t length) {
    std::vector<std::complex<double>> turns;
    for (const double point : points) {
        const double cycles = static_cast<double>(band.middle) * point / static_cast<double>(length);
        turns.push_back(std::polar(1.0, -2 * std::numbers::pi * (cycles - std::nearbyint(cycles))));
    }
    return turns;
}

FinerGrid finer_grid_of(const NufftRecipe& recipe, std::vector<double> points, std::int64_t length,
                        const GridBand& band, DepthRange kept) {
    const SpreadingKernel kernel(recipe);
    FinerGrid finer;
    finer.grid = finer_grid(recipe, band.bins);
    const double ratio = static_cast<double>(finer.grid) / static_cast<double>(length);
    for (double& point : points) point *= ratio;
    finer.spread = spread_samples(kernel, points, finer.grid);
    for (std::int64_t z = kept.begin; z < kept.end; ++z) {
        const double cycles = static_cast<double>(z - band.middle) / static_cast<double>(finer.grid);
        finer.correction.push_back(static_cast<float>(1 / kernel.transform(cycles)));
    }
    return finer;
}

NufftTables nufft_tables(const ReconstructionSpec& spec) {
    const Lengths lengths = lengths_of(spec.geometry, spec.recipe);
    const DepthRange kept = kept_depth(spec.recipe, lengths.bins);
    const SamplePoints samples = sample_points(spec);
    NufftTables tables;
    tables.real = std::ranges::all_of(samples.weights, [](const auto& weight) { return weight.imag() == 0; });
    const GridBand band = tables.real ? both_sides(lengths.transform) : one_side(lengths.bins);
    const auto turns = turned_to_middle(band, samples.points, lengths.transform);
    for (std::size_t p = 0; p < turns.size(); ++p) tables.weights.emplace_back(samples.weights[p] * turns[p]);
    FinerGrid finer = finer_grid_of(spec.nufft, samples.points, lengths.transform, band, kept);
    tables.grid = finer.grid;
    tables.middle = band.middle;
    tables.spread = std::move(finer.spread);
    tables.correction = std::move(finer.correction);
    tables.first_bin = kept.begin;
    return tables;
}

}  // namespace echolux
