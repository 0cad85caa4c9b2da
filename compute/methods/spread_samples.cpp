#include "compute/methods/spread_samples.h"

#include <cmath>

#include "compute/indexing.h"

namespace echolux {
namespace {

// Fills the direction to the grid as the transpose of the direction from it, in sample order.
void transpose(SpreadSamples& spread, std::int64_t grid) {
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

}  // namespace

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

}  // namespace echolux
