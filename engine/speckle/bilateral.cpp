// The bilateral filter: a mean whose weights fall with distance and with the difference in brightness. Brightness is
// compared in a smoothed volume, because single voxels of speckle say little about it.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "compute/parallel_for.h"
#include "compute/steps/speckle.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {
namespace {

constexpr std::int64_t most_b_scans = 2;  // on either side; more cost much and contribute little

// Weighted sums over the neighbours of one A-scan.
struct Sums {
    std::vector<float> values, weights;
};

// Adds one neighbouring A-scan, shifted in depth by `shift`. `square` is the squared distance in voxels.
void add_line(Sums& sums, const float* power, const float* guide, const float* own_guide, std::int64_t rows,
              std::int64_t shift, float square, const BilateralWeight& weight) {
    const std::int64_t begin = std::max<std::int64_t>(0, -shift), end = std::min(rows, rows - shift);
    for (std::int64_t z = begin; z < end; ++z) {
        const float w = weight(square, guide[z + shift] - own_guide[z]);
        sums.values[static_cast<std::size_t>(z)] += w * power[z + shift];
        sums.weights[static_cast<std::size_t>(z)] += w;
    }
}

constexpr double guide_sigma = 1;  // in voxels

// Returns the smoothed brightness in dB that is compared.
std::vector<float> guide_of(const std::vector<float>& power, const Size3& size, float margin) {
    std::vector<float> guide(power.size());
    parallel_for(0, size[2], [&](std::int64_t b) {
        const std::int64_t slice = size[0] * size[1];
        for (std::int64_t i = b * slice; i < (b + 1) * slice; ++i) {
            const auto at = static_cast<std::size_t>(i);
            guide[at] = Decibel{}(power[at] + margin);
        }
    });
    smooth(guide, size, {guide_sigma, size[1] > 1 ? guide_sigma : 0, size[2] > 1 ? guide_sigma : 0});
    return guide;
}

}  // namespace

BilateralTables bilateral_tables(const Size3& size, const SpeckleFilter& filter, float margin) {
    BilateralTables tables;
    const auto reach = static_cast<std::int64_t>(std::ceil(2 * filter.sigma));
    const auto half_log2_e = 0.5 * std::numbers::log2e;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (axis == 0 || size[axis] > 1) tables.smoothing[axis] = gaussian_weights(guide_sigma);
    }
    tables.reach = {reach, reach, std::min(reach, most_b_scans)};
    tables.weight = {static_cast<float>(half_log2_e / (filter.sigma * filter.sigma)),
                     static_cast<float>(half_log2_e / (filter.range_db * filter.range_db))};
    tables.margin = margin;
    return tables;
}

std::vector<float> filtered(const std::vector<float>& power, const Size3& size, const BilateralTables& tables,
                            Progress& progress) {
    const std::vector<float> guide = guide_of(power, size, tables.margin);
    std::vector<float> out(power.size());
    const std::int64_t reach = tables.reach[0];
    progress.begin("filter", size[2], "B-scans");
    for (std::int64_t b = 0; b < size[2]; ++b) {
        const std::int64_t first_b = std::max(std::int64_t{0}, b - tables.reach[2]);
        const std::int64_t last_b = std::min(size[2] - 1, b + tables.reach[2]);
        parallel_for(0, size[1], [&](std::int64_t a) {
            const auto rows = static_cast<std::size_t>(size[0]);
            const std::int64_t own = (b * size[1] + a) * size[0];
            Sums sums{std::vector<float>(rows), std::vector<float>(rows)};
            for (std::int64_t y = first_b; y <= last_b; ++y) {
                for (std::int64_t x = std::max<std::int64_t>(0, a - reach); x <= std::min(size[1] - 1, a + reach);
                     ++x) {
                    const std::int64_t line = (y * size[1] + x) * size[0];
                    for (std::int64_t dz = -reach; dz <= reach; ++dz) {
                        const auto square = static_cast<float>((y - b) * (y - b) + (x - a) * (x - a) + dz * dz);
                        add_line(sums, power.data() + line, guide.data() + line, guide.data() + own, size[0], dz,
                                 square, tables.weight);
                    }
                }
            }
            for (std::size_t z = 0; z < rows; ++z)
                out[static_cast<std::size_t>(own) + z] = sums.values[z] / sums.weights[z];
        });
        progress.advance(1);
    }
    progress.end();
    return out;
}

}  // namespace echolux
