#include "compute/methods/compressive.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "compute/indexing.h"
#include "compute/methods/nonuniform.h"
#include "compute/plan/tables.h"
#include "compute/steps/sparse.h"

namespace echolux {
namespace {

// Returns a uniform number in (0, 1) that depends only on the seed and the index (splitmix64: G. Steele et al., OOPSLA
// 2014).
double chance(std::uint64_t seed, std::uint64_t number) {
    std::uint64_t x = seed * 0x9e3779b97f4a7c15u + (number + 1) * 0xd1b54a32d192ed03u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return (static_cast<double>(x >> 11) + 0.5) * 0x1p-53;
}

// Returns the relative probability of each sample in a random mask.
std::vector<double> likelihoods(const ReconstructionSpec& spec) {
    std::vector<double> weights(index(spec.geometry.samples), 1.0);
    if (spec.compressive.mask == SensingMask::uniform) return weights;
    constexpr double min = 0.05;  // keeps some samples of the dark ends
    const std::vector<double>& dark = spec.calibration.dark;
    for (std::size_t p = 0; p < weights.size(); ++p) {
        weights[p] = std::max(0.0, spec.calibration.background[p] - (dark.empty() ? 0 : dark[p]));
    }
    const double brightest = std::ranges::max(weights);
    for (double& weight : weights) weight = std::sqrt(weight / brightest) + min;
    return weights;
}

// Returns the samples with the largest chance^(1 / likelihood): weighted sampling without replacement.
std::vector<std::int32_t> random_samples(const ReconstructionSpec& spec) {
    const std::vector<double> weights = likelihoods(spec);
    const auto seed = static_cast<std::uint64_t>(spec.compressive.seed);
    std::vector<double> keys(weights.size());
    for (std::size_t p = 0; p < keys.size(); ++p) keys[p] = std::log(chance(seed, p)) / weights[p];
    const double wanted = std::round(spec.compressive.share * static_cast<double>(weights.size()));
    const auto count = std::max<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(wanted));
    std::vector<std::int32_t> samples(weights.size());
    std::iota(samples.begin(), samples.end(), 0);
    const auto by_key = [&](std::int32_t p) { return keys[index(p)]; };
    std::ranges::nth_element(samples, samples.begin() + count - 1, std::ranges::greater{}, by_key);
    samples.resize(index(count));
    std::ranges::sort(samples);
    return samples;
}

// Adds the finer grid, or the k grid itself.
void add_grid(SensingTables& tables, const ReconstructionSpec& spec) {
    const double scale = std::sqrt(static_cast<double>(tables.length));
    const GridBand band = tables.real ? both_sides(tables.length) : one_side(tables.modes);
    tables.middle = band.middle;
    const auto to_middle = turned_to_middle(band, tables.points, tables.length);
    for (std::size_t p = 0; p < to_middle.size(); ++p) {
        tables.turns_of_grid.push_back(tables.turns[p] * std::conj(to_middle[p]));
    }
    if (tables.on_k_grid) {
        tables.grid = tables.length;
        tables.spread = placed_samples(tables.samples, tables.grid);
        tables.correction.assign(index(tables.modes), 1.0f);
    } else {
        FinerGrid finer = finer_grid_of(spec.nufft, tables.points, tables.length, band, {0, tables.modes});
        tables.grid = finer.grid;
        tables.spread = std::move(finer.spread);
        tables.correction = std::move(finer.correction);
    }
    for (float& factor : tables.correction) factor = static_cast<float>(static_cast<double>(factor) / scale);
}

}  // namespace

std::complex<double> SensingTables::element(std::size_t p, std::int64_t m) const {
    const double n = static_cast<double>(length), turn = static_cast<double>(m) * points[p] / n;
    const double angle = -2 * std::numbers::pi * (turn - std::nearbyint(turn));
    return std::conj(turns[p]) * std::polar(1 / std::sqrt(n), angle);
}

// Bound from the large sieve: points on a circle at least delta of a turn apart capture at most (M + 1 / delta) times
// the norm of M consecutive orders (H. L. Montgomery, Bull. Amer. Math. Soc. 84, 547 (1978)). Without phase factors
// these are the orders of both sides. With them, a sample is the real part of one side's orders with twice the norm.
double SensingTables::max_curvature() const {
    const double n = static_cast<double>(length);
    std::vector<double> on_circle;
    for (const double x : points) on_circle.push_back(x - n * std::floor(x / n));
    std::ranges::sort(on_circle);
    double min = on_circle.front() + n - on_circle.back();
    for (std::size_t p = 1; p < on_circle.size(); ++p) min = std::min(min, on_circle[p] - on_circle[p - 1]);
    return 1 + (real ? 1 : 2) / min;
}

int enough_tries(const SensingTables& tables, const CompressiveRecipe& recipe) {
    if (recipe.step == StepRule::clamped) return 1;
    const double min = std::min(1.0, recipe.min_step);  // the initial curvature is 1
    const double doublings = std::ceil(std::log2(tables.max_curvature() / min));
    return 1 + static_cast<int>(std::clamp(doublings, 0.0, SearchRules<double>::max_tries - 1.0));
}

std::vector<std::int32_t> sensed_samples(const ReconstructionSpec& spec) {
    std::vector<std::int32_t> samples;
    switch (spec.compressive.mask) {
        case SensingMask::all:
            samples.resize(index(spec.geometry.samples));
            std::iota(samples.begin(), samples.end(), 0);
            return samples;
        case SensingMask::file:
            for (std::size_t p = 0; p < spec.calibration.mask.size(); ++p) {
                if (spec.calibration.mask[p] != 0) samples.push_back(static_cast<std::int32_t>(p));
            }
            return samples;
        default: return random_samples(spec);
    }
}

SensingTables sensing_tables(const ReconstructionSpec& spec) {
    const KGrid grid = k_grid(spec.calibration, spec.geometry.samples);
    SensingTables tables;
    tables.samples = sensed_samples(spec);
    tables.on_k_grid = spec.compressive.transform == SensingTransform::fft;
    tables.length = spec.geometry.samples;
    tables.modes = tables.length / 2;
    const SpectrumPoints points = tables.on_k_grid ? points_of_grid(grid) : points_of_samples(spec.calibration, grid);
    const std::vector<double> theta = dispersion_phase_at(points, spec.recipe, spec.calibration, grid);
    for (const std::int32_t p : tables.samples) {
        tables.points.push_back(points.on_grid[index(p)]);
        tables.turns.push_back(std::polar(1.0, theta[index(p)]));
        tables.real = tables.real && theta[index(p)] == 0;
    }
    const double weight_sum = spectral_weight(spec.recipe, spec.calibration, grid).sum;
    tables.to_bins = static_cast<float>(weight_sum / std::sqrt(static_cast<double>(tables.length)));
    if (spec.compressive.transform != SensingTransform::exact) add_grid(tables, spec);
    return tables;
}

}  // namespace echolux
