#include "engine/layers/boundary_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "compute/parallel_for.h"
#include "compute/tissue_on_gpu.h"
#include "engine/layers/map_smoothing.h"

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

// Smooths one boundary in both directions: semi-global sweeps of its costs along A-scans and B-scans, forwards and
// backwards, at constant depth (H. Hirschmueller, IEEE TPAMI 30, 328, 2008).

namespace {

constexpr int farthest = farthest_boundary_rows;
constexpr int margin = farthest + 3;
// Along B-scans, process neighbouring A-scans together, because they are adjacent in memory.
constexpr std::int64_t lines_together = 32;

using Lanes = std::array<float, boundary_lanes>;

// Accumulated costs along one path, one A-scan after the other.
class Way {
  public:
    explicit Way(const SweepStep& step) : step_(step) {}

    // Starts a path: the sums of the first A-scan are its costs.
    const Lanes& first(const float* costs, std::int32_t row) {
        std::copy_n(costs, boundary_lanes, sums_.begin());
        row_ = row;
        return sums_;
    }

    // Adds the costs of the next A-scan to the cheapest way from the previous one. Subtracts the min, so that sums stay
    // small.
    const Lanes& next(const float* costs, std::int32_t row) {
        std::array<float, boundary_lanes + 2 * margin> before{};
        std::fill_n(before.begin(), margin, sums_[0] + beyond_boundary_labels);
        std::copy_n(sums_.begin(), boundary_labels, before.begin() + margin);
        std::fill(before.begin() + margin + boundary_labels, before.end(),
                  sums_[boundary_labels - 1] + beyond_boundary_labels);
        const float* same_depth = before.data() + margin + SweepStep::shift(row - row_);
        for (int lane = 0; lane < boundary_lanes; ++lane) {
            sums_[static_cast<std::size_t>(lane)] = costs[lane] + step_(same_depth + lane);
        }
        const float least = *std::ranges::min_element(sums_);
        for (float& sum : sums_) sum -= least;
        row_ = row;
        return sums_;
    }

  private:
    SweepStep step_;
    Lanes sums_{};
    std::int32_t row_ = 0;
};

// Adds the sums of a path to `total`, for `count` A-scans from `first` with this stride. The backward pass subtracts
// the A-scan's own costs, which both passes include.
void go(Way& way, const std::vector<float>& costs, const std::vector<std::int32_t>& rows, std::int64_t first,
        std::int64_t count, std::int64_t stride, std::vector<float>& total) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t line = first + i * stride;
        const float* of_line = costs.data() + line * boundary_lanes;
        const std::int32_t row = rows[static_cast<std::size_t>(line)];
        const Lanes& sums = i == 0 ? way.first(of_line, row) : way.next(of_line, row);
        float* out = total.data() + line * boundary_lanes;
        if (stride > 0) {
            std::ranges::copy(sums, out);
        } else {
            for (std::size_t lane = 0; lane < boundary_lanes; ++lane)
                out[lane] = SweepStep::both_ways(out[lane], sums[lane], of_line[lane]);
        }
    }
}

// Sweeps forwards and backwards along A-scans or along B-scans.
std::vector<float> to_and_fro(const std::vector<float>& costs, const std::vector<std::int32_t>& rows,
                              const MapSize& size, bool along_b, const SweepStep& step) {
    std::vector<float> total(costs.size());
    const std::int64_t ways = along_b ? size.a_scans : size.b_scans;
    const std::int64_t count = along_b ? size.b_scans : size.a_scans;
    const std::int64_t stride = along_b ? size.a_scans : 1, between = along_b ? 1 : size.a_scans;
    parallel_for(0, (ways + lines_together - 1) / lines_together, [&](std::int64_t part) {
        for (std::int64_t w = part * lines_together; w < std::min(ways, (part + 1) * lines_together); ++w) {
            Way there(step), back(step);
            go(there, costs, rows, w * between, count, stride, total);
            go(back, costs, rows, w * between + (count - 1) * stride, count, -stride, total);
        }
    });
    return total;
}

// Returns the first label of min cost.
std::int32_t best_of(const float* sums) {
    return static_cast<std::int32_t>(std::min_element(sums, sums + boundary_labels) - sums);
}

// Returns the cost difference to the best label that is not next to the chosen one.
float quality_of(const float* sums, std::int32_t best) {
    float next = impossible;
    for (std::int32_t label = 0; label < boundary_labels; ++label) {
        if (SweepStep::is_rival(label, best)) next = std::min(next, sums[label]);
    }
    return next - sums[best];
}

// `costs` is [A-scan][lane], `rows` the row of the centre label per A-scan.
SweptBoundary swept(const std::vector<float>& costs, const std::vector<std::int32_t>& rows, const MapSize& size,
                    const SweepStep& step) {
    const bool has_a = size.a_scans > 1, has_b = size.b_scans > 1;
    const std::vector<float> along_a =
        has_a || !has_b ? to_and_fro(costs, rows, size, false, step) : std::vector<float>();
    const std::vector<float> along_b = has_b ? to_and_fro(costs, rows, size, true, step) : std::vector<float>();
    SweptBoundary found{std::vector<std::int32_t>(rows.size()), std::vector<float>(rows.size()),
                        std::vector<std::uint8_t>(rows.size())};
    parallel_for(0, size.b_scans, [&](std::int64_t b) {
        for (auto line = static_cast<std::size_t>(b * size.a_scans);
             line < static_cast<std::size_t>((b + 1) * size.a_scans); ++line) {
            const std::size_t at = line * boundary_lanes;
            Lanes sums{};
            if (along_a.empty() || along_b.empty()) {
                std::copy_n((along_a.empty() ? along_b : along_a).data() + at, boundary_lanes, sums.begin());
            } else {
                for (std::size_t lane = 0; lane < boundary_lanes; ++lane)
                    sums[lane] = SweepStep::crossed(along_a[at + lane], along_b[at + lane], costs[at + lane]);
                const bool is_far =
                    SweepStep::are_far_apart(best_of(along_a.data() + at), best_of(along_b.data() + at));
                found.is_ambiguous[line] = is_far ? 1 : 0;
            }
            found.labels[line] = best_of(sums.data());
            found.quality[line] = quality_of(sums.data(), found.labels[line]);
        }
    });
    return found;
}

// Computes the costs of all boundaries, then sweeps each of them.
class SearchOnCpu : public BoundarySearch {
  public:
    SearchOnCpu(const std::vector<float>& intensity, const Size3& size, const CoarseLayers& coarse)
        : intensity_(intensity), size_(size), coarse_(coarse) {}

    std::vector<SweptBoundary> swept(const BoundaryRows& rows, std::span<const SweepStep> steps,
                                     const BoundaryDone& done) override {
        const BoundaryCosts costs = boundary_costs(intensity_, size_, rows, coarse_.has_signal, coarse_.floor);
        std::vector<SweptBoundary> found;
        for (std::size_t k = 0; k < rows.size(); ++k) {
            found.push_back(echolux::swept(costs[k], rows[k], {size_[1], size_[2]}, steps[k]));
            done();
        }
        return found;
    }

  private:
    const std::vector<float>& intensity_;
    const Size3 size_;
    const CoarseLayers& coarse_;
};

}  // namespace

std::unique_ptr<BoundarySearch> boundary_search_on_cpu(const std::vector<float>& intensity, const Size3& size,
                                                       const CoarseLayers& coarse) {
    return std::make_unique<SearchOnCpu>(intensity, size, coarse);
}

}  // namespace echolux
