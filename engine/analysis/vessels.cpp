#include "engine/analysis/vessels.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/error.h"
#include "compute/parallel_for.h"
#include "engine/analysis/layers.h"

namespace echolux {
namespace {

// Divides each depth row by its median over all lines, which leaves the contrast within the row.
void normalise_rows(std::vector<float>& lines, std::int64_t rows) {
    const std::int64_t count = std::ssize(lines) / rows;
    parallel_for(0, rows, [&](std::int64_t z) {
        std::vector<float> row(static_cast<std::size_t>(count));
        for (std::int64_t l = 0; l < count; ++l) {
            row[static_cast<std::size_t>(l)] = lines[static_cast<std::size_t>(l * rows + z)];
        }
        const auto middle = row.begin() + count / 2;
        std::nth_element(row.begin(), middle, row.end());
        const float median = std::max(*middle, 1e-30f);
        for (std::int64_t l = 0; l < count; ++l) lines[static_cast<std::size_t>(l * rows + z)] /= median;
    });
}

// Returns the threshold that maximizes the variance between the two classes (Otsu 1979).
double otsu_threshold(const std::vector<float>& values) {
    constexpr std::size_t bins = 256;
    const auto [min, max] = std::minmax_element(values.begin(), values.end());
    const double low = static_cast<double>(*min);
    const double width = std::max(1e-30, (static_cast<double>(*max) - low) / bins);
    std::array<double, bins> histogram{};
    double total = 0;
    for (const float value : values) {
        const auto bin = static_cast<std::size_t>((static_cast<double>(value) - low) / width);
        histogram[std::min(bin, bins - 1)] += 1;
        total += static_cast<double>(std::min(bin, bins - 1));
    }
    const auto count = static_cast<double>(values.size());
    double below = 0, below_sum = 0, best = -1;
    std::size_t best_bin = 0;
    for (std::size_t bin = 0; bin + 1 < bins; ++bin) {
        below += histogram[bin];
        below_sum += histogram[bin] * static_cast<double>(bin);
        if (below == 0 || below == count) continue;
        const double distance = below_sum / below - (total - below_sum) / (count - below);
        const double variance = below * (count - below) * distance * distance;
        if (variance > best) {
            best = variance;
            best_bin = bin;
        }
    }
    return low + width * static_cast<double>(best_bin + 1);
}

}  // namespace

std::vector<std::uint8_t> find_vessels(const Volume& volume, const std::vector<float>& surface, std::int64_t first_row,
                                       std::int64_t last_row) {
    constexpr std::array<double, 3> within_lumen{6, 1.5, 1.5};  // sigma in voxels, smaller than a lumen
    if (first_row >= last_row) throw Error(ErrorCode::bad_setting, "the depth range is empty", "vessels");
    const Size3 size{volume.grid.depth, volume.grid.a_scans, volume.grid.b_scans};
    const std::int64_t rows = last_row - first_row;
    std::vector<float> lines = flattened(linear_intensity(volume), size, surface, -first_row, rows);
    normalise_rows(lines, rows);
    smooth(lines, {rows, size[1], size[2]}, within_lumen);
    std::vector<float> brightest(surface.size());
    for (std::size_t l = 0; l < brightest.size(); ++l) {
        const auto line = lines.begin() + static_cast<std::int64_t>(l) * rows;
        brightest[l] = *std::max_element(line, line + rows);
    }
    const double threshold = otsu_threshold(brightest);
    std::vector<std::uint8_t> mask(brightest.size());
    std::transform(brightest.begin(), brightest.end(), mask.begin(), [threshold](float value) {
        return static_cast<std::uint8_t>(static_cast<double>(value) > threshold ? 1 : 0);
    });
    return mask;
}

double dice(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
    std::int64_t both = 0, sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        both += a[i] != 0 && b[i] != 0;
        sum += (a[i] != 0) + (b[i] != 0);
    }
    return sum == 0 ? 1 : 2 * static_cast<double>(both) / static_cast<double>(sum);
}

}  // namespace echolux
