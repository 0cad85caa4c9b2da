#include "engine/registration/crosses.h"

#include <algorithm>
#include <cmath>

#include "compute/parallel_for.h"

namespace echolux {
namespace {

constexpr std::int64_t half_width = 4;  // A-scans on either side that make a profile
constexpr double min_correlation = 0.3;

// Of A-scans around one, of norm 1; all 0 where there is nothing.
std::vector<float> profile(const RowFeatures& features, std::int64_t row, double at) {
    const auto middle = static_cast<std::int64_t>(std::lround(at));
    std::vector<float> sum(static_cast<std::size_t>(features.depth), 0.0F);
    for (std::int64_t a = middle - half_width; a <= middle + half_width; ++a) {
        if (a < 0 || a >= features.a_scans) continue;
        const float* line = features.row(row) + a * features.depth;
        for (std::size_t z = 0; z < sum.size(); ++z) sum[z] += line[z];
    }
    double mean = 0, square = 0;
    for (const float value : sum) mean += static_cast<double>(value) / static_cast<double>(sum.size());
    for (float& value : sum) {
        value -= static_cast<float>(mean);
        square += static_cast<double>(value) * static_cast<double>(value);
    }
    const auto scale = square > 0 ? static_cast<float>(1 / std::sqrt(square)) : 0.0F;
    for (float& value : sum) value *= scale;
    return sum;
}

// Correlations of two profiles at shifts -range .. range.
std::vector<float> correlations(const std::vector<float>& of, const std::vector<float>& in, std::int64_t range) {
    const std::int64_t depth = std::ssize(of);
    std::vector<float> all;
    for (std::int64_t shift = -range; shift <= range; ++shift) {
        float sum = 0;
        for (std::int64_t z = std::max<std::int64_t>(0, -shift); z < std::min(depth, depth - shift); ++z)
            sum += of[static_cast<std::size_t>(z)] * in[static_cast<std::size_t>(z + shift)];
        all.push_back(sum);
    }
    return all;
}

struct Peak {
    double shift, height;
};

// None at the end of the range, or lower than `least`.
std::optional<Peak> peak_of(const std::vector<float>& all, double least) {
    const auto best = std::ranges::max_element(all);
    if (best == all.begin() || best + 1 == all.end() || static_cast<double>(*best) < least) return {};
    const double below = static_cast<double>(best[-1]), at = static_cast<double>(best[0]),
                 above = static_cast<double>(best[1]);
    const double curve = below - 2 * at + above;
    const double part = curve < 0 ? std::clamp((below - above) / (2 * curve), -0.5, 0.5) : 0;
    return Peak{static_cast<double>(best - all.begin() - std::ssize(all) / 2) + part, at};
}

// Point `index` of `count` that share the field evenly, as one of `others` that do.
double place(std::int64_t index, std::int64_t count, std::int64_t others) {
    return (static_cast<double>(index) + 0.5) / static_cast<double>(count) * static_cast<double>(others) - 0.5;
}

}  // namespace

std::vector<std::optional<double>> depths_by_crosses(const RowFeatures& features, std::int64_t crosses,
                                                     std::int64_t axial_range) {
    const std::int64_t rows = features.rows - crosses;
    std::vector<std::optional<double>> depths(static_cast<std::size_t>(rows));
    parallel_for(0, rows, [&](std::int64_t j) {
        double sum = 0, weights = 0;
        for (std::int64_t k = 0; k < crosses; ++k) {
            const std::vector<float> here = profile(features, crosses + j, place(k, crosses, features.a_scans));
            const std::vector<float> there = profile(features, k, place(j, rows, features.a_scans));
            const auto peak = peak_of(correlations(here, there, axial_range), min_correlation);
            if (!peak) continue;
            sum += peak->shift;
            weights += 1;
        }
        if (weights > 0) depths[static_cast<std::size_t>(j)] = sum / weights;
    });
    return depths;
}

}  // namespace echolux
