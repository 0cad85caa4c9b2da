#include "compute/methods/nufft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compute/indexing.h"
#include "compute/methods/sample_points.h"
#include "compute/tables.h"
#include "compute/validate.h"

namespace echolux {
namespace {

using std::numbers::pi;

double square(double x) {
    return x * x;
}

double kaiser_bessel_square(const NufftRecipe& recipe) {
    return square(static_cast<double>(recipe.width) / recipe.oversampling * (recipe.oversampling - 0.5)) - 0.8;
}

// beta of exp(beta (sqrt(1 - x^2) - 1)): tuned for R = 2 (A. Barnett, J. Magland, L. af Klinteberg, SIAM J. Sci.
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

// sinh(sqrt(s)) / sqrt(s), for negative s too.
double sinhc_of_root(double s) {
    const double root = std::sqrt(std::abs(s));
    if (root < 1e-6) return 1;
    return s > 0 ? std::sinh(root) / root : std::sin(root) / root;
}

struct Entry {
    std::int64_t point;
    std::int32_t sample;
    std::complex<double> weight;
};

// What each sample gives to the points around it; the finer grid is a circle.
std::vector<Entry> spread(const SpreadingKernel& kernel, const NufftRecipe& recipe, const SamplePoints& samples,
                          double points_a_step, std::int64_t grid) {
    std::vector<Entry> entries;
    for (std::size_t p = 0; p < samples.points.size(); ++p) {
        if (samples.weights[p] == 0.0) continue;
        const double place = samples.points[p] * points_a_step;
        const auto first = static_cast<std::int64_t>(std::ceil(place - static_cast<double>(recipe.width) / 2));
        for (std::int64_t g = first; g < first + recipe.width; ++g) {
            const double weight = kernel.at(place - static_cast<double>(g));
            entries.push_back({((g % grid) + grid) % grid, static_cast<std::int32_t>(p), weight * samples.weights[p]});
        }
    }
    std::ranges::stable_sort(entries, {}, &Entry::point);
    return entries;
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
    // No closed form: the trapezoidal rule in the angle, d = W/2 sin(a), which takes the kernel's steep ends apart.
    constexpr int steps = 200;
    double sum = 0;
    for (int i = -steps; i <= steps; ++i) {
        const double angle = pi / 2 * i / steps;
        const double distance = width_ / 2 * std::sin(angle);
        sum += at(distance) * std::cos(2 * pi * distance * cycles) * std::cos(angle);
    }
    return sum * width_ / 2 * pi / 2 / steps;
}

bool has_kernel(const NufftRecipe& recipe) {
    return recipe.kernel != GridKernel::kaiser_bessel || kaiser_bessel_square(recipe) > 0;
}

bool uses_nufft(const ReconstructionPlan& plan) {
    return chosen_resample(plan.recipe, plan.calibration) == Resample::nufft;
}

std::int64_t nufft_grid(const NufftRecipe& recipe, std::int64_t transform) {
    const auto least = static_cast<std::int64_t>(std::ceil(recipe.oversampling * static_cast<double>(transform)));
    return least + least % 2;
}

NufftTables nufft_tables(const ReconstructionPlan& plan) {
    const Lengths lengths = lengths_of(plan.geometry, plan.recipe);
    const DepthRange kept = kept_depth(plan.recipe, lengths.bins);
    const SamplePoints samples = sample_points(plan);
    const SpreadingKernel kernel(plan.nufft);
    NufftTables tables;
    tables.grid = nufft_grid(plan.nufft, lengths.transform);
    const double ratio = static_cast<double>(tables.grid) / static_cast<double>(lengths.transform);
    const std::vector<Entry> entries = spread(kernel, plan.nufft, samples, ratio, tables.grid);
    tables.begin.resize(index(tables.grid + 1));
    for (const Entry& entry : entries) {
        ++tables.begin[index(entry.point + 1)];
        tables.samples.push_back(entry.sample);
        tables.weights.emplace_back(entry.weight);
        tables.real = tables.real && tables.weights.back().imag() == 0;
    }
    for (std::size_t g = 1; g < tables.begin.size(); ++g) tables.begin[g] += tables.begin[g - 1];
    tables.first_bin = kept.begin;
    for (std::int64_t z = kept.begin; z < kept.end; ++z) {
        const double cycles = static_cast<double>(z) / static_cast<double>(tables.grid);
        tables.correction.push_back(static_cast<float>(1 / kernel.transform(cycles)));
    }
    return tables;
}

}  // namespace echolux
