#include "compute/cuda/nufft.h"

#include <algorithm>
#include <complex>
#include <map>
#include <numbers>

#include "compute/indexing.h"

namespace echolux::cuda {
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
            grid.weights[index(tap * grid.points + j)] = {static_cast<float>(weight.real()),
                                                          static_cast<float>(weight.imag())};
        }
    }
    return grid;
}

}  // namespace echolux::cuda
