#include "compute/methods/nonuniform.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "compute/indexing.h"
#include "compute/plan/choices.h"
#include "compute/plan/tables.h"

namespace echolux {
namespace {

using std::numbers::pi;

double square(double x) {
    return x * x;
}

// (beta / pi)^2 of the Kaiser-Bessel kernel.
double kaiser_bessel_square(const NufftRecipe& recipe) {
    return square(static_cast<double>(recipe.width) / recipe.oversampling * (recipe.oversampling - 0.5)) - 0.8;
}

// beta of exp(beta (sqrt(1 - x^2) - 1)), tuned for R = 2 (A. Barnett, J. Magland, L. af Klinteberg, SIAM J. Sci.
// Comput. 41, C479 (2019)).
double exponential_beta(const NufftRecipe& recipe) {
    const auto width = static_cast<double>(recipe.width);
    if (recipe.oversampling != 2) return 0.97 * pi * width * (1 - 1 / (2 * recipe.oversampling));
    switch (recipe.width) {
        case 2: return 2.20 * width;
        case 3: return 2.26 * width;
        case 4: return 2.38 * width;
        default: return 2.30 * width;
    }
}

double shape_of(const NufftRecipe& recipe) {
    const double r = recipe.oversampling;
    switch (recipe.kernel) {
        case GridKernel::gaussian: return 2 * pi * (r - 0.5) / (r * static_cast<double>(recipe.width));
        case GridKernel::kaiser_bessel: return pi * std::sqrt(kaiser_bessel_square(recipe));
        case GridKernel::exponential: break;
    }
    return exponential_beta(recipe);
}

// sinh(sqrt(s)) / sqrt(s), also for negative s.
double sinhc_of_root(double s) {
    const double root = std::sqrt(std::abs(s));
    if (root < 1e-6) return 1;
    return s > 0 ? std::sinh(root) / root : std::sin(root) / root;
}

}  // namespace

SpreadingKernel::SpreadingKernel(const NufftRecipe& recipe)
    : kernel_(recipe.kernel), width_(static_cast<double>(recipe.width)), shape_(shape_of(recipe)) {}

double SpreadingKernel::at(double distance) const {
    const double under_root = 1 - square(2 * distance / width_);
    if (under_root < 0) return 0;
    switch (kernel_) {
        case GridKernel::gaussian: return std::exp(-shape_ * square(distance));
        case GridKernel::kaiser_bessel: return std::cyl_bessel_i(0, shape_ * std::sqrt(under_root)) / width_;
        case GridKernel::exponential: break;
    }
    return std::exp(shape_ * (std::sqrt(under_root) - 1));
}

double SpreadingKernel::transform(double cycles) const {
    switch (kernel_) {
        case GridKernel::gaussian: return std::sqrt(pi / shape_) * std::exp(-square(pi * cycles) / shape_);
        case GridKernel::kaiser_bessel: return sinhc_of_root(square(shape_) - square(pi * width_ * cycles));
        case GridKernel::exponential: break;
    }
    // No closed form: integrate with the trapezoidal rule over the angle a, d = W/2 sin(a), which resolves the steep
    // ends of the kernel.
    constexpr int steps = 200;
    double sum = 0;
    for (int i = -steps; i <= steps; ++i) {
        const double angle = pi / 2 * i / steps;
        const double distance = width_ / 2 * std::sin(angle);
        sum += at(distance) * std::cos(2 * pi * distance * cycles) * std::cos(angle);
    }
    return sum * width_ / 2 * pi / 2 / steps;
}

std::int64_t finer_grid(const NufftRecipe& recipe, std::int64_t transform) {
    const auto min = static_cast<std::int64_t>(std::ceil(recipe.oversampling * static_cast<double>(transform)));
    return min + min % 2;
}

// Fills the direction to the grid as the transpose of the direction from it, in sample order.
static void transpose(SpreadSamples& spread, std::int64_t grid) {
    const auto point = [&](std::size_t p, std::int64_t l) { return index((spread.first[p] + l) % grid); };
    spread.begin.assign(index(grid + 1), 0);
    for (std::size_t p = 0; p < spread.first.size(); ++p) {
        for (std::int64_t l = 0; l < spread.width; ++l) ++spread.begin[point(p, l) + 1];
    }
    for (std::size_t g = 1; g < spread.begin.size(); ++g) spread.begin[g] += spread.begin[g - 1];
    std::vector<std::int32_t> next(spread.begin.begin(), spread.begin.end() - 1);
    spread.samples.resize(spread.from_weights.size());
    spread.weights.resize(spread.from_weights.size());
    for (std::size_t p = 0; p < spread.first.size(); ++p) {
        for (std::int64_t l = 0; l < spread.width; ++l) {
            const auto entry = index(next[point(p, l)]++);
            spread.samples[entry] = static_cast<std::int32_t>(p);
            spread.weights[entry] = spread.from_weights[p * index(spread.width) + index(l)];
        }
    }
}

SpreadSamples spread_samples(const SpreadingKernel& kernel, const std::vector<double>& places, std::int64_t grid) {
    SpreadSamples spread;
    spread.width = kernel.width();
    for (const double place : places) {
        const auto first = static_cast<std::int64_t>(std::ceil(place - static_cast<double>(spread.width) / 2));
        spread.first.push_back(static_cast<std::int32_t>((first % grid + grid) % grid));
        for (std::int64_t g = first; g < first + spread.width; ++g) {
            spread.from_weights.push_back(static_cast<float>(kernel.at(place - static_cast<double>(g))));
        }
    }
    transpose(spread, grid);
    return spread;
}

SpreadSamples placed_samples(const std::vector<std::int32_t>& places, std::int64_t grid) {
    SpreadSamples spread;
    spread.first = places;
    spread.from_weights.assign(places.size(), 1.0f);
    transpose(spread, grid);
    return spread;
}

std::vector<double> shares_of_grid(const std::vector<double>& points) {
    const std::size_t n = points.size();
    std::vector<double> shares(n);
    for (std::size_t p = 0; p < n; ++p) {
        const std::size_t left = p == 0 ? 0 : p - 1;
        const std::size_t right = std::min(p + 1, n - 1);
        shares[p] = std::abs(points[right] - points[left]) / static_cast<double>(right - left);
    }
    return shares;
}

SamplePoints sample_points(const ReconstructionSpec& spec) {
    const KGrid grid = k_grid(spec.calibration, spec.geometry.samples);
    const SpectrumPoints points = points_of_samples(spec.calibration, grid);
    SamplePoints samples{points.on_grid, spectral_weight_at(points, spec.recipe, spec.calibration, grid)};
    const std::vector<double> shares = shares_of_grid(samples.points);
    const double end = static_cast<double>(shares.size()) - 0.5;
    for (std::size_t p = 0; p < shares.size(); ++p) {
        const bool on_grid = samples.points[p] >= -0.5 && samples.points[p] <= end;
        samples.weights[p] *= on_grid ? shares[p] : 0;
    }
    return samples;
}

NudftMatrix::NudftMatrix(const ReconstructionSpec& spec) {
    const Lengths lengths = lengths_of(spec.geometry, spec.recipe);
    const DepthRange kept = kept_depth(spec.recipe, lengths.bins);
    first_bin_ = kept.begin;
    depth_ = kept.end - kept.begin;
    transform_ = static_cast<double>(lengths.transform);
    SamplePoints samples = sample_points(spec);
    points_ = std::move(samples.points);
    weights_ = std::move(samples.weights);
}

std::complex<double> NudftMatrix::at(std::int64_t z, std::int64_t p) const {
    const double turns = static_cast<double>(first_bin_ + z) * points_[index(p)] / transform_;
    return std::polar(1.0, -2 * std::numbers::pi * (turns - std::nearbyint(turns))) * weights_[index(p)];
}

double NudftMatrix::largest() const {
    double largest = 0;
    for (const std::complex<double>& weight : weights_) largest = std::max(largest, std::abs(weight));
    return largest;
}

bool uses_nudft(const ReconstructionSpec& spec) {
    return chosen_resample(spec.recipe, spec.calibration) == Resample::nudft;
}

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

namespace {

using Complex = std::complex<double>;
using WeightOfSample = std::map<std::int64_t, Complex>;

void add_grid_point(WeightOfSample& point, const NufftTables& tables, std::int64_t g, Complex as) {
    for (auto i = index(tables.spread.begin[index(g)]); i < index(tables.spread.begin[index(g + 1)]); ++i) {
        const std::int32_t sample = tables.spread.samples[i];
        const Complex weight = as * double{tables.spread.weights[i]} * Complex(tables.weights[index(sample)]);
        if (weight != 0.0) point[sample] += weight;
    }
}

std::vector<WeightOfSample> weights_of_points(const NufftTables& tables) {
    const std::int64_t parts = tables.real ? 2 : 1;
    const auto in_order = [&](std::int64_t g) {  // shifts the transform's bins back to those of the depth
        const std::int64_t steps = tables.middle * g % tables.grid;
        return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(steps) / static_cast<double>(tables.grid));
    };
    std::vector<WeightOfSample> points(index(tables.grid / parts));
    for (std::int64_t g = 0; g < tables.grid; ++g) {
        add_grid_point(points[index(g / parts)], tables, g, tables.real ? Complex(g % 2 == 0, g % 2) : in_order(g));
    }
    return points;
}

// The shortest circular run of neighbouring samples that covers all samples of a point.
struct Run {
    std::int64_t first = 0;
    std::int64_t length = 0;
};

Run run_of(const WeightOfSample& point, std::int64_t samples) {
    if (point.empty()) return {};
    Run shortest{point.begin()->first, point.rbegin()->first - point.begin()->first + 1};
    for (auto sample = point.begin(); std::next(sample) != point.end(); ++sample) {
        const std::int64_t from = std::next(sample)->first;
        const std::int64_t length = sample->first + samples - from + 1;
        if (length < shortest.length) shortest = {from, length};
    }
    return shortest;
}

}  // namespace

GridTaps grid_taps(const NufftTables& tables) {
    const std::int64_t samples = std::ssize(tables.weights);
    const std::vector<WeightOfSample> points = weights_of_points(tables);
    GridTaps grid;
    grid.points = std::ssize(points);
    std::vector<Run> runs;
    for (const WeightOfSample& point : points) {
        runs.push_back(run_of(point, samples));
        grid.taps = std::max(grid.taps, runs.back().length);
    }
    grid.weights.resize(index(grid.taps * grid.points));
    for (std::int64_t j = 0; j < grid.points; ++j) {
        const Run& run = runs[index(j)];
        const bool around_the_end = run.first + run.length > samples;
        const std::int64_t base = around_the_end ? run.first : std::min(run.first, samples - grid.taps);
        grid.base.push_back(static_cast<std::int32_t>(base));
        grid.repeated = std::max(grid.repeated, base + grid.taps - samples);
        for (const auto& [sample, weight] : points[index(j)]) {
            const std::int64_t tap = (sample - base + samples) % samples;
            grid.weights[index(tap * grid.points + j)] = std::complex<float>(weight);
        }
    }
    return grid;
}

}  // namespace echolux
