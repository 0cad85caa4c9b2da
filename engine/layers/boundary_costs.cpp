#include "engine/layers/boundary_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/parallel_for.h"
#include "engine/layers/lateral.h"

namespace echolux {
namespace {

constexpr double mean_sigma = 6;  // A-scans, B-scans over which the brightness of a layer is averaged

// The layers' edges in one A-scan: 0, the boundaries, its end.
class Edges {
  public:
    Edges(const BoundaryRows& rows, std::int64_t depth) : rows_(rows), depth_(static_cast<std::int32_t>(depth)) {}

    std::int32_t operator()(std::size_t edge, std::size_t line) const {
        if (edge == 0) return 0;
        return edge > rows_.size() ? depth_ : std::clamp(rows_[edge - 1][line], 0, depth_);
    }

  private:
    const BoundaryRows& rows_;
    std::int32_t depth_;
};

// Sums from the top of an A-scan: sums[z] is that of the rows before z.
void sum_up(const float* line, std::int64_t rows, std::vector<double>& sums) {
    sums.resize(static_cast<std::size_t>(rows + 1));
    double sum = 0;
    for (std::int64_t z = 0; z < rows; ++z) {
        sums[static_cast<std::size_t>(z)] = sum;
        if (std::isfinite(line[z])) sum += static_cast<double>(line[z]);
    }
    sums[static_cast<std::size_t>(rows)] = sum;
}

// [layer][A-scan]: the mean brightness around it. A row at either edge of a layer belongs to the point spread.
std::vector<std::vector<float>> layer_means(const std::vector<float>& intensity, const Size3& size,
                                            const BoundaryRows& rows, const std::vector<std::uint8_t>& has_signal,
                                            double floor) {
    const Edges edges(rows, size[0]);
    const std::size_t layers = rows.size() + 1, lines = has_signal.size();
    std::vector<std::vector<float>> sums(layers, std::vector<float>(lines)), counts = sums;
    parallel_for(0, size[2], [&](std::int64_t b) {
        for (auto line = static_cast<std::size_t>(b * size[1]); line < static_cast<std::size_t>((b + 1) * size[1]);
             ++line) {
            if (has_signal[line] == 0) continue;
            const float* values = intensity.data() + static_cast<std::int64_t>(line) * size[0];
            for (std::size_t k = 0; k < layers; ++k) {
                const auto [begin, end] =
                    LayerInside::of(edges(k, line), edges(k + 1, line), static_cast<std::int32_t>(size[0]));
                double sum = 0;
                std::int32_t count = 0;
                for (std::int32_t z = begin; z < end; ++z) {
                    if (!std::isfinite(values[z])) continue;
                    sum += static_cast<double>(values[z]);
                    ++count;
                }
                sums[k][line] = static_cast<float>(sum);
                counts[k][line] = static_cast<float>(count);
            }
        }
    });
    const MapSize map{size[1], size[2]};
    const float least = least_layer_mean(floor);
    for (std::size_t k = 0; k < layers; ++k) {
        smooth_map(sums[k], map, mean_sigma, mean_sigma);
        smooth_map(counts[k], map, mean_sigma, mean_sigma);
        for (std::size_t line = 0; line < lines; ++line) {
            sums[k][line] = counts[k][line] > 0 ? std::max(sums[k][line] / counts[k][line], least) : least;
        }
    }
    return sums;
}

// Leaves out what was not recorded above and below the places that the boundary may have; false where one of those
// places was not recorded itself, so that nothing is known.
bool keeps_recorded(BoundaryWindow& window, std::int32_t at, const float* line) {
    const auto is_missing = [](float value) { return !std::isfinite(value); };
    const std::int32_t begin = std::clamp(at - boundary_reach, window.first, window.last),
                       end = std::clamp(at + boundary_reach, begin, window.last);
    if (std::any_of(line + begin, line + end, is_missing)) return false;
    std::int32_t first = begin, last = end;
    while (first > window.first && !is_missing(line[first - 1])) --first;
    while (last < window.last && !is_missing(line[last])) ++last;
    window.first = first;
    window.last = last;
    return true;
}

void fill_costs(const BoundaryWindow& window, std::int32_t at, const std::vector<double>& sums, float* costs) {
    const auto rows = static_cast<std::int32_t>(sums.size()) - 1;
    const auto sum_before = [&](std::int32_t z) { return sums[static_cast<std::size_t>(std::clamp(z, 0, rows))]; };
    const double first = sum_before(window.first), last = sum_before(window.last);
    for (int label = 0; label < boundary_labels; ++label) {
        const std::int32_t z = at - boundary_reach + label;
        costs[label] = BoundaryCost{}(window, z, static_cast<float>(sum_before(z) - first),
                                      static_cast<float>(last - sum_before(z)));
    }
}

}  // namespace

const std::vector<float>& layer_mean_weights() {
    static const std::vector<float> weights = half_gaussian(mean_sigma);
    return weights;
}

float least_layer_mean(double floor) {
    return static_cast<float>(std::max(floor * 1e-3, 1e-30));
}

BoundaryCosts boundary_costs(const std::vector<float>& intensity, const Size3& size, const BoundaryRows& rows,
                             const std::vector<std::uint8_t>& has_signal, double floor) {
    const std::vector<std::vector<float>> means = layer_means(intensity, size, rows, has_signal, floor);
    const Edges edges(rows, size[0]);
    BoundaryCosts costs(rows.size(), std::vector<float>(has_signal.size() * boundary_lanes));
    parallel_for(0, size[2], [&](std::int64_t b) {
        std::vector<double> sums;
        for (auto line = static_cast<std::size_t>(b * size[1]); line < static_cast<std::size_t>((b + 1) * size[1]);
             ++line) {
            const float* values = intensity.data() + static_cast<std::int64_t>(line) * size[0];
            if (has_signal[line] != 0) sum_up(values, size[0], sums);
            for (std::size_t k = 0; k < rows.size(); ++k) {
                float* of_line = costs[k].data() + line * boundary_lanes;
                if (has_signal[line] != 0) {
                    BoundaryWindow window = BoundaryWindow::between(
                        edges(k + 1, line), edges(k, line), edges(k + 2, line), means[k][line], means[k + 1][line]);
                    if (keeps_recorded(window, edges(k + 1, line), values))
                        fill_costs(window, edges(k + 1, line), sums, of_line);
                }
                std::fill(of_line + boundary_labels, of_line + boundary_lanes, impossible);
            }
        }
    });
    return costs;
}

std::vector<float> contrast_db(const std::vector<float>& intensity, const Size3& size, const BoundaryRows& rows,
                               std::size_t boundary, const std::vector<std::uint8_t>& has_signal, double floor) {
    constexpr std::int32_t reach = 6;  // rows on either side, at most
    constexpr double sigma = 3;        // A-scans, B-scans
    const Edges edges(rows, size[0]);
    constexpr float untold = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> above(has_signal.size()), below(above);
    std::vector<std::uint8_t> tells(has_signal.size());
    parallel_for(0, std::ssize(has_signal), [&](std::int64_t at) {
        const auto line = static_cast<std::size_t>(at);
        if (has_signal[line] == 0) return;
        const std::int32_t middle = edges(boundary + 1, line);
        std::size_t above_it = boundary, below_it = boundary + 2;
        while (above_it > 0 && middle - edges(above_it, line) < thinnest_layer) --above_it;
        while (below_it <= rows.size() && edges(below_it, line) - middle < thinnest_layer) ++below_it;
        const std::int32_t first = std::max(middle - reach, edges(above_it, line)),
                           last = std::min(middle + reach, edges(below_it, line));
        const float* values = intensity.data() + at * size[0];
        if (middle - first < thinnest_layer || last - middle < thinnest_layer) return;
        const auto mean = [&](std::int32_t begin, std::int32_t end) {
            float sum = 0;
            for (std::int32_t z = begin; z < end; ++z) sum += values[z];
            return sum / static_cast<float>(end - begin);
        };
        if (!std::isfinite(mean(first, last))) return;
        tells[line] = 1;
        above[line] = mean(first, middle);
        below[line] = mean(middle, last);
    });
    const MapSize map{size[1], size[2]};
    smooth_map(above, map, sigma, sigma);
    smooth_map(below, map, sigma, sigma);
    const auto margin = static_cast<float>(std::max(0.01 * floor, 1e-30));
    parallel_for(0, map.b_scans, [&](std::int64_t b) {
        for (auto i = static_cast<std::size_t>(b * map.a_scans); i < static_cast<std::size_t>((b + 1) * map.a_scans);
             ++i)
            above[i] = tells[i] != 0 ? 10 * std::log10((below[i] + margin) / (above[i] + margin)) : untold;
    });
    return above;
}

}  // namespace echolux
