#include "engine/layers/boundary_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/parallel_for.h"
#include "engine/layers/lateral.h"

namespace echolux {
namespace {

// Smoothing of a layer's brightness, in A-scans and B-scans.
constexpr double mean_sigma = 6;

// Edges of the layers in all A-scans, in the layout that LayerEdges expects.
class Edges {
  public:
    Edges(const BoundaryRows& rows, std::int64_t depth)
        : boundaries_(static_cast<int>(rows.size())), depth_(static_cast<int>(depth)) {
        for (const std::vector<std::int32_t>& of_boundary : rows) {
            lines_ = std::ssize(of_boundary);
            all_.insert(all_.end(), of_boundary.begin(), of_boundary.end());
        }
    }

    LayerEdges of(std::size_t line) const { return {all_.data() + line, lines_, boundaries_, depth_}; }
    std::int32_t operator()(std::size_t edge, std::size_t line) const { return of(line)(static_cast<int>(edge)); }

  private:
    std::vector<std::int32_t> all_;  // [boundary][A-scan]
    std::int64_t lines_ = 0;
    int boundaries_, depth_;
};

// Computes prefix sums of an A-scan: sums[z] is the sum of rows before z.
void sum_up(const float* line, std::int64_t rows, std::vector<double>& sums) {
    sums.resize(static_cast<std::size_t>(rows + 1));
    double sum = 0;
    for (std::int64_t z = 0; z < rows; ++z) {
        sums[static_cast<std::size_t>(z)] = sum;
        if (is_recorded(line[z])) sum += static_cast<double>(line[z]);
    }
    sums[static_cast<std::size_t>(rows)] = sum;
}

// Returns the mean brightness around each A-scan, [layer][A-scan]. Excludes one row at either edge of a layer, which
// the point spread blurs.
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
                    if (!is_recorded(values[z])) continue;
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

}  // namespace

const std::vector<float>& layer_mean_weights() {
    static const std::vector<float> weights = half_gaussian(mean_sigma);
    return weights;
}

float least_layer_mean(double floor) {
    return static_cast<float>(std::max(floor * 1e-3, 1e-30));
}

float contrast_margin(double floor) {
    return static_cast<float>(std::max(0.01 * floor, 1e-30));
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
                    const std::int32_t at = edges(k + 1, line);
                    if (keeps_recorded(window, at, values)) {
                        for (int label = 0; label < boundary_labels; ++label)
                            of_line[label] = boundary_cost(window, at, label, sums.data(), static_cast<int>(size[0]));
                    }
                }
                std::fill(of_line + boundary_labels, of_line + boundary_lanes, impossible);
            }
        }
    });
    return costs;
}

std::vector<float> contrast_db(const std::vector<float>& intensity, const Size3& size, const BoundaryRows& rows,
                               std::size_t boundary, const std::vector<std::uint8_t>& has_signal, double floor) {
    const Edges edges(rows, size[0]);
    constexpr float untold = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> above(has_signal.size()), below(above);
    std::vector<std::uint8_t> tells(has_signal.size());
    parallel_for(0, std::ssize(has_signal), [&](std::int64_t at) {
        const auto line = static_cast<std::size_t>(at);
        if (has_signal[line] == 0) return;
        const auto sides =
            BoundarySides::of(edges.of(line), static_cast<int>(boundary), intensity.data() + at * size[0]);
        tells[line] = sides.is_told ? 1 : 0;
        above[line] = sides.above;
        below[line] = sides.below;
    });
    const MapSize map{size[1], size[2]};
    smooth_map(above, map, contrast_sigma, contrast_sigma);
    smooth_map(below, map, contrast_sigma, contrast_sigma);
    const float margin = contrast_margin(floor);
    parallel_for(0, map.b_scans, [&](std::int64_t b) {
        for (auto i = static_cast<std::size_t>(b * map.a_scans); i < static_cast<std::size_t>((b + 1) * map.a_scans);
             ++i)
            above[i] = tells[i] != 0 ? BoundarySides::contrast_db(above[i], below[i], margin) : untold;
    });
    return above;
}

}  // namespace echolux
