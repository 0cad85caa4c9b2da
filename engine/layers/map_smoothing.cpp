#include "engine/layers/map_smoothing.h"

#include <algorithm>
#include <cmath>

#include "compute/parallel_for.h"
#include "compute/steps/layers.h"

namespace echolux {
namespace {

// Smooths one row of a map. `weights` are those of half_gaussian().
void smooth_along_a(const float* row, float* out, std::int64_t count, const std::vector<float>& weights) {
    const std::int64_t reach = std::ssize(weights) - 1;
    std::vector<float> padded(static_cast<std::size_t>(count + 2 * reach));
    for (std::int64_t i = 0; i < std::ssize(padded); ++i) {
        padded[static_cast<std::size_t>(i)] = row[std::clamp<std::int64_t>(i - reach, 0, count - 1)];
    }
    const float* middle = padded.data() + reach;
    for (std::int64_t i = 0; i < count; ++i) out[i] = weights[0] * middle[i];
    for (std::int64_t d = 1; d <= reach; ++d) {
        const float weight = weights[static_cast<std::size_t>(d)];
        for (std::int64_t i = 0; i < count; ++i) out[i] += weight * (middle[i - d] + middle[i + d]);
    }
}

// Smooths across rows for one row of the result.
void smooth_along_b(const std::vector<float>& map, float* out, const MapSize& size, std::int64_t b,
                    const std::vector<float>& weights) {
    const auto row = [&](std::int64_t of) {
        return map.data() + std::clamp<std::int64_t>(of, 0, size.b_scans - 1) * size.a_scans;
    };
    for (std::int64_t a = 0; a < size.a_scans; ++a) out[a] = weights[0] * row(b)[a];
    for (std::int64_t d = 1; d < std::ssize(weights); ++d) {
        const float weight = weights[static_cast<std::size_t>(d)];
        const float *before = row(b - d), *after = row(b + d);
        for (std::int64_t a = 0; a < size.a_scans; ++a) out[a] += weight * (before[a] + after[a]);
    }
}

// Calls use(index) for a position and its existing neighbours among eight.
template <class Use>
void each_neighbour(const MapSize& size, std::int64_t b, std::int64_t a, const Use& use) {
    for (std::int64_t y = std::max<std::int64_t>(0, b - 1); y <= std::min(size.b_scans - 1, b + 1); ++y) {
        for (std::int64_t x = std::max<std::int64_t>(0, a - 1); x <= std::min(size.a_scans - 1, a + 1); ++x)
            use(static_cast<std::size_t>(y * size.a_scans + x));
    }
}

}  // namespace

std::vector<float> half_gaussian(double sigma) {
    const auto reach = static_cast<std::int64_t>(std::ceil(3 * sigma));
    std::vector<float> weights;
    double sum = 0;
    for (std::int64_t d = 0; d <= reach; ++d) {
        const double x = static_cast<double>(d) / sigma;
        weights.push_back(static_cast<float>(std::exp(-x * x / 2)));
        sum += (d == 0 ? 1 : 2) * static_cast<double>(weights.back());
    }
    for (float& weight : weights) weight = static_cast<float>(static_cast<double>(weight) / sum);
    return weights;
}

void smooth_map(std::vector<float>& map, const MapSize& size, double sigma_a, double sigma_b) {
    std::vector<float> out(map.size());
    if (sigma_a > 0 && size.a_scans > 1) {
        const std::vector<float> weights = half_gaussian(sigma_a);
        parallel_for(0, size.b_scans, [&](std::int64_t b) {
            smooth_along_a(map.data() + b * size.a_scans, out.data() + b * size.a_scans, size.a_scans, weights);
        });
        map.swap(out);
    }
    if (sigma_b > 0 && size.b_scans > 1) {
        const std::vector<float> weights = half_gaussian(sigma_b);
        parallel_for(0, size.b_scans,
                     [&](std::int64_t b) { smooth_along_b(map, out.data() + b * size.a_scans, size, b, weights); });
        map.swap(out);
    }
}

void smooth_weighted(std::vector<float>& map, const std::vector<float>& weights, const MapSize& size, double sigma_a,
                     double sigma_b) {
    std::vector<float> sums(map.size()), counts = weights;
    for (std::size_t i = 0; i < map.size(); ++i) sums[i] = weights[i] > 0 ? map[i] * weights[i] : 0;
    smooth_map(sums, size, sigma_a, sigma_b);
    smooth_map(counts, size, sigma_a, sigma_b);
    for (std::size_t i = 0; i < map.size(); ++i) {
        if (counts[i] > least_weight_of_a_mean) map[i] = sums[i] / counts[i];
    }
}

std::vector<float> median_of_neighbours(const std::vector<float>& map, const MapSize& size) {
    std::vector<float> out(map.size());
    for (std::int64_t b = 0; b < size.b_scans; ++b) {
        for (std::int64_t a = 0; a < size.a_scans; ++a)
            out[static_cast<std::size_t>(b * size.a_scans + a)] =
                MedianOfNeighbours{}(map.data(), size.a_scans, size.b_scans, b, a);
    }
    return out;
}

void fill_unknown(std::vector<float>& map, std::vector<std::uint8_t> is_known, const MapSize& size) {
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        const std::vector<std::uint8_t> before = is_known;
        for (std::int64_t b = 0; b < size.b_scans; ++b) {
            for (std::int64_t a = 0; a < size.a_scans; ++a) {
                const auto at = static_cast<std::size_t>(b * size.a_scans + a);
                if (before[at] != 0) continue;
                double sum = 0;
                int count = 0;
                each_neighbour(size, b, a, [&](std::size_t near) {
                    if (before[near] == 0) return;
                    sum += static_cast<double>(map[near]);
                    ++count;
                });
                if (count == 0) continue;
                map[at] = static_cast<float>(sum / count);
                is_known[at] = 1;
                is_changed = true;
            }
        }
    }
}

std::vector<float> without_outliers(const std::vector<float>& map, const MapSize& size, std::int64_t reach,
                                    double limit) {
    std::vector<float> out(map.size());
    const RobustSurface surface{map.data(), size.a_scans, size.b_scans, reach, limit};
    parallel_for(0, size.b_scans, [&](std::int64_t b) {
        for (std::int64_t a = 0; a < size.a_scans; ++a)
            out[static_cast<std::size_t>(b * size.a_scans + a)] = surface.without_outlier(b, a);
    });
    return out;
}

}  // namespace echolux
