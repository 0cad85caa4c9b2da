#include "engine/layers/boundary_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "compute/boundary_search_on.h"
#include "compute/cpu/executor.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/steps/layers.h"

namespace echolux {

namespace {

// Smooths one row of a map. `weights`: the centre, then each distance.
void smooth_along_a(const float* row, float* out, std::int64_t count, std::span<const float> weights) {
    const std::int64_t reach = std::ssize(weights) - 1;
    std::vector<float> padded(index(count + 2 * reach));
    for (std::int64_t i = 0; i < std::ssize(padded); ++i) {
        padded[index(i)] = row[std::clamp<std::int64_t>(i - reach, 0, count - 1)];
    }
    const float* middle = padded.data() + reach;
    for (std::int64_t i = 0; i < count; ++i) out[i] = weights[0] * middle[i];
    for (std::int64_t d = 1; d <= reach; ++d) {
        const float weight = weights[index(d)];
        for (std::int64_t i = 0; i < count; ++i) out[i] += weight * (middle[i - d] + middle[i + d]);
    }
}

// Smooths across rows for one row of the result.
void smooth_along_b(const float* map, float* out, const MapSize& size, std::int64_t b, std::span<const float> weights) {
    const auto row = [&](std::int64_t of) {
        return map + std::clamp<std::int64_t>(of, 0, size.b_scans - 1) * size.a_scans;
    };
    for (std::int64_t a = 0; a < size.a_scans; ++a) out[a] = weights[0] * row(b)[a];
    for (std::int64_t d = 1; d < std::ssize(weights); ++d) {
        const float weight = weights[index(d)];
        const float *before = row(b - d), *after = row(b + d);
        for (std::int64_t a = 0; a < size.a_scans; ++a) out[a] += weight * (before[a] + after[a]);
    }
}

void smooth_axis(const float* map, float* out, const MapSize& size, bool along_b, std::span<const float> weights) {
    parallel_for(0, size.b_scans, [&](std::int64_t b) {
        const std::int64_t row = b * size.a_scans;
        if (along_b)
            smooth_along_b(map, out + row, size, b, weights);
        else
            smooth_along_a(map + row, out + row, size.a_scans, weights);
    });
}

// Calls use(index) for a position and its existing neighbours among eight.
template <class Use>
void each_neighbour(const MapSize& size, std::int64_t b, std::int64_t a, const Use& use) {
    for (std::int64_t y = std::max<std::int64_t>(0, b - 1); y <= std::min(size.b_scans - 1, b + 1); ++y) {
        for (std::int64_t x = std::max<std::int64_t>(0, a - 1); x <= std::min(size.a_scans - 1, a + 1); ++x)
            use(index(y * size.a_scans + x));
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
        smooth_axis(map.data(), out.data(), size, false, half_gaussian(sigma_a));
        map.swap(out);
    }
    if (sigma_b > 0 && size.b_scans > 1) {
        smooth_axis(map.data(), out.data(), size, true, half_gaussian(sigma_b));
        map.swap(out);
    }
}

void fill_unknown(std::vector<float>& map, std::vector<std::uint8_t> is_known, const MapSize& size) {
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        const std::vector<std::uint8_t> before = is_known;
        for (std::int64_t b = 0; b < size.b_scans; ++b) {
            for (std::int64_t a = 0; a < size.a_scans; ++a) {
                const auto at = index(b * size.a_scans + a);
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

// ---- Cuts one depth profile into pieces of constant brightness. Finds the exact maximum likelihood cut of
// exponentially distributed intensities by dynamic programming over all positions of all boundaries.

namespace {

// Cuts profiles of `bins` bins. Reuses its buffers; use from one thread.
class ProfileCutter {
  public:
    ProfileCutter(std::vector<ProfileBoundary> boundaries, std::int64_t bins);

    // Returns the bin that begins below each boundary; empty if no cut fits the distances and polarities. All values of
    // `profile` must be positive.
    std::vector<std::int64_t> operator()(std::span<const float> profile);

  private:
    void find_pieces(std::span<const float> profile);
    void next_boundary(const ProfileBoundary& boundary, const std::vector<float>& above, std::vector<float>& costs,
                       std::int32_t* from) const;
    ProfileCut cut() const { return {sums_.data(), static_cast<std::int32_t>(bins_)}; }
    float* pieces_to(std::int64_t end) { return pieces_.data() + end * stride_; }
    const float* pieces_to(std::int64_t end) const { return pieces_.data() + end * stride_; }

    std::vector<ProfileBoundary> boundaries_;
    std::int64_t bins_, stride_, longest_ = 0;
    std::vector<double> sums_;        // prefix sums
    std::vector<float> pieces_;       // [end][begin]: cost of a piece
    std::vector<std::int32_t> from_;  // [boundary][end]: begin of the piece above
};

constexpr float ruled_out = ProfileCut::ruled_out;

struct Least {
    float cost;
    std::int32_t at;
};

// Returns the min of a[i] + b[i] for i in [begin, end), the first if there are several. Eight independent lanes allow
// vector instructions.
Least least_sum(const float* a, const float* b, std::int64_t begin, std::int64_t end) {
    constexpr std::int32_t lanes = 8;
    std::array<float, lanes> cost{};
    std::array<std::int32_t, lanes> at{};
    cost.fill(2 * ruled_out);
    at.fill(static_cast<std::int32_t>(begin));
    std::int64_t i = begin;
    for (; i + lanes <= end; i += lanes) {
        for (std::int32_t lane = 0; lane < lanes; ++lane) {
            const auto l = index(lane);
            const float sum = a[i + lane] + b[i + lane];
            const bool is_less = sum < cost[l];
            cost[l] = is_less ? sum : cost[l];
            at[l] = is_less ? static_cast<std::int32_t>(i) + lane : at[l];
        }
    }
    Least least{cost[0], at[0]};
    for (std::size_t l = 1; l < lanes; ++l) {
        if (cost[l] < least.cost || (cost[l] == least.cost && at[l] < least.at)) least = {cost[l], at[l]};
    }
    for (; i < end; ++i) {
        if (a[i] + b[i] < least.cost) least = {a[i] + b[i], static_cast<std::int32_t>(i)};
    }
    return least;
}

ProfileCutter::ProfileCutter(std::vector<ProfileBoundary> boundaries, std::int64_t bins)
    : boundaries_(std::move(boundaries)), bins_(bins), stride_(bins + 1), sums_(index(bins + 1)),
      pieces_(index((bins + 1) * (bins + 1))), from_(boundaries_.size() * index(bins + 1)) {
    for (std::size_t k = 1; k < boundaries_.size(); ++k) {
        longest_ =
            std::max(longest_, boundaries_[k].max == 0 ? bins : std::min<std::int64_t>(bins, boundaries_[k].max));
    }
}

// Computes the costs of pieces. Those from the top and to the bottom may have any length, those between boundaries at
// most longest_.
void ProfileCutter::find_pieces(std::span<const float> profile) {
    for (std::int64_t i = 0; i < bins_; ++i) {
        const auto at = index(i);
        sums_[at + 1] = sums_[at] + static_cast<double>(profile[at]);
    }
    for (std::int64_t end = 1; end <= bins_; ++end) {
        float* pieces = pieces_to(end);
        const std::int64_t first = end == bins_ ? 0 : std::max<std::int64_t>(0, end - longest_);
        const auto last = static_cast<std::int32_t>(end);
        pieces[0] = cut().piece(0, last);
        for (std::int64_t begin = first; begin < end; ++begin)
            pieces[begin] = cut().piece(static_cast<std::int32_t>(begin), last);
    }
}

// One step of the dynamic programming: min cost of placing `boundary` at each bin, given the costs of the boundary
// above.
void ProfileCutter::next_boundary(const ProfileBoundary& boundary, const std::vector<float>& above,
                                  std::vector<float>& costs, std::int32_t* from) const {
    for (std::int64_t end = 1; end < bins_; ++end) {
        const std::int64_t last = end - boundary.min + 1;
        const std::int64_t first = boundary.max == 0 ? 1 : std::max<std::int64_t>(1, end - boundary.max);
        Least least{ruled_out, 1};
        if (first < last) least = least_sum(above.data(), pieces_to(end), first, last);
        costs[index(end)] = cut().later(boundary, static_cast<std::int32_t>(end), least.cost);
        from[end] = least.at;
    }
}

std::vector<std::int64_t> ProfileCutter::operator()(std::span<const float> profile) {
    find_pieces(profile);
    std::vector<float> costs(index(stride_), ruled_out), above;
    const ProfileBoundary& top = boundaries_.front();
    for (std::int64_t end = 1; end < bins_; ++end) costs[index(end)] = cut().first(top, static_cast<std::int32_t>(end));
    for (std::size_t k = 1; k < boundaries_.size(); ++k) {
        above = costs;
        next_boundary(boundaries_[k], above, costs, from_.data() + static_cast<std::int64_t>(k) * stride_);
    }
    const Least last = least_sum(costs.data(), pieces_to(bins_), 1, bins_);
    if (last.cost >= ruled_out / 2) return {};
    std::vector<std::int64_t> places(boundaries_.size());
    std::int64_t at = last.at;
    for (std::size_t k = places.size(); k-- > 0;) {
        places[k] = at;
        if (k > 0) at = from_[k * index(stride_) + index(at)];
    }
    return places;
}

constexpr std::int64_t block_reach = 8, block_columns = 64;  // A-scans of a block along B-scans, and in total
constexpr std::int64_t longest_block = 16;                   // A-scans, used with few B-scans
constexpr double floor_share = 0.05;                         // share of the bins that are darker than the noise floor
// Extra pieces for tissue below the last boundary. It fades, and without them boundaries would follow the fading.
constexpr int pieces_below = 5;
constexpr std::int64_t outlier_reach = 3;  // blocks on either side; vessels hide boundaries in fewer blocks than that
constexpr double outlier_bins = 3;         // distance from the surface of the surrounding blocks
constexpr double block_smoothing = 0.7;    // sigma in blocks
// Smoothing in A-scans and B-scans, of a layer's brightness, of the two sides of a boundary and its certainty, and of
// positions, which turns whole rows into fractions
constexpr double mean_sigma = 6, contrast_sigma = 3, jitter_sigma = 1.5;

float min_layer_mean(double floor) {
    return static_cast<float>(std::max(floor * 1e-3, 1e-30));
}

float contrast_margin(double floor) {
    return static_cast<float>(std::max(0.01 * floor, 1e-30));
}

// Converts boundaries from rows to bins.
std::vector<ProfileBoundary> in_bins(const std::vector<BoundaryOptions>& wanted, bool tissue_below) {
    std::vector<ProfileBoundary> boundaries;
    for (const BoundaryOptions& one : wanted) {
        boundaries.push_back({one.polarity, std::max(1, static_cast<std::int32_t>(one.min_rows / rows_of_a_bin)),
                              static_cast<std::int32_t>(std::ceil(one.max_rows / rows_of_a_bin))});
    }
    if (tissue_below) boundaries.insert(boundaries.end(), pieces_below, ProfileBoundary{-1, 1, 0});
    return boundaries;
}

// Converts boundaries to the form used by sweeps.
std::vector<BoundaryRequest> boundary_requests(const std::vector<BoundaryOptions>& wanted) {
    std::vector<BoundaryRequest> rows;
    for (const BoundaryOptions& one : wanted) {
        const bool is_thin = one.min_rows > 0 && one.min_rows < thinnest_layer;
        rows.push_back(
            {static_cast<float>(one.smoothness), static_cast<float>(one.min_rows), one.polarity, is_thin ? 1 : 0});
    }
    return rows;
}

BlockAxis blocks_along_a(const Size3& size) {
    return BlockAxis::of(size[1],
                         std::clamp(block_columns / std::min(size[2], block_reach), block_reach, longest_block));
}

BlockAxis blocks_along_b(const Size3& size) {
    return BlockAxis::of(size[2], block_reach);
}

}  // namespace

// Noise alone exceeds 6 dB in exp(-4) of its voxels.
SignalLevels signal_levels(std::int64_t rows, double floor) {
    const double by_chance = static_cast<double>(rows) * std::exp(-static_cast<double>(signal_over_floor));
    const double least = min_signal_rows + by_chance + 3 * std::sqrt(by_chance);
    return {signal_over_floor * static_cast<float>(floor), std::min(least, 0.5 * static_cast<double>(rows)),
            min_layer_mean(floor), contrast_margin(floor), floor};
}

SurfaceTables surface_tables(const Size3& size, const std::vector<BoundaryOptions>& wanted, bool tissue_below,
                             std::optional<double> known_floor) {
    return {.size = size,
            .along_a = blocks_along_a(size),
            .along_b = blocks_along_b(size),
            .cut = in_bins(wanted, tissue_below),
            .wanted = boundary_requests(wanted),
            .floor_share = floor_share,
            .most_floor = known_floor.value_or(1e30),
            .outlier_reach = outlier_reach,
            .outlier_bins = outlier_bins,
            .block_weights = half_gaussian(block_smoothing),
            .mean_weights = half_gaussian(mean_sigma),
            .contrast_weights = half_gaussian(contrast_sigma),
            .jitter_weights = half_gaussian(jitter_sigma)};
}

// ---- Smooths one boundary in both directions: semi-global sweeps of its costs along A-scans and B-scans, forwards and
// backwards, at constant depth (H. Hirschmueller, IEEE TPAMI 30, 328, 2008).

namespace {

constexpr int farthest = farthest_boundary_rows;
constexpr int margin = farthest + 3;
// Along B-scans, process neighbouring A-scans together, because they are adjacent in memory.
constexpr std::int64_t lines_together = 32;

using Lanes = std::array<float, boundary_lanes>;

// Accumulated costs along one path, one A-scan after the other.
class SweepPath {
  public:
    explicit SweepPath(const SweepStep& step) : step_(step) {}

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
            sums_[index(lane)] = costs[lane] + step_(same_depth + lane);
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
void go(SweepPath& path, const float* costs, const std::int32_t* rows, std::int64_t first, std::int64_t count,
        std::int64_t stride, float* total) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t line = first + i * stride;
        const float* of_line = costs + line * boundary_lanes;
        const Lanes& sums = i == 0 ? path.first(of_line, rows[line]) : path.next(of_line, rows[line]);
        float* out = total + line * boundary_lanes;
        if (stride > 0) {
            std::ranges::copy(sums, out);
        } else {
            for (std::size_t lane = 0; lane < boundary_lanes; ++lane)
                out[lane] = SweepStep::both_directions(out[lane], sums[lane], of_line[lane]);
        }
    }
}

// Sweeps forwards and backwards along A-scans or along B-scans.
void to_and_fro(const float* costs, const std::int32_t* rows, const MapSize& size, bool along_b, const SweepStep& step,
                float* total) {
    const std::int64_t paths = along_b ? size.a_scans : size.b_scans;
    const std::int64_t count = along_b ? size.b_scans : size.a_scans;
    const std::int64_t stride = along_b ? size.a_scans : 1, between = along_b ? 1 : size.a_scans;
    parallel_for(0, (paths + lines_together - 1) / lines_together, [&](std::int64_t part) {
        for (std::int64_t w = part * lines_together; w < std::min(paths, (part + 1) * lines_together); ++w) {
            SweepPath there(step), back(step);
            go(there, costs, rows, w * between, count, stride, total);
            go(back, costs, rows, w * between + (count - 1) * stride, count, -stride, total);
        }
    });
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

// Computes prefix sums of an A-scan: sums[z] is the sum of rows before z.
void sum_up(const float* line, std::int64_t rows, std::vector<double>& sums) {
    sums.resize(index(rows + 1));
    double sum = 0;
    for (std::int64_t z = 0; z < rows; ++z) {
        sums[index(z)] = sum;
        if (is_recorded(line[z])) sum += static_cast<double>(line[z]);
    }
    sums[index(rows)] = sum;
}

// The steps that a CPU divides in another way than a GPU, see compute/boundary_search_on.h. Inner loops run over
// rows, bins and labels, which are adjacent in memory.
class LayersOnCpu : public cpu::CpuExecutor {
  public:
    const float* volume(const float* intensity) { return intensity; }
    void begin(const LayerVolume&) {}

    void average_blocks(const LayerVolume& volume, const BlocksOfLines& blocks, float* profiles) {
        parallel_for(0, blocks.count(),
                     [&](std::int64_t block) { average(volume, blocks, block, profiles + block * blocks.bins); });
    }

    BinLevels levels_of(const float* profiles, std::int64_t count, double share) {
        std::vector<float> some;
        std::copy_if(profiles, profiles + count, std::back_inserter(some), [](float bin) { return bin > 0; });
        if (some.empty()) return {};
        const auto place = some.begin() + std::lround(share * static_cast<double>(some.size() - 1));
        std::ranges::nth_element(some, place);
        return {*place, *std::max_element(place, some.end())};
    }

    void cut(const BlockCutArguments& work) {
        parallel_for(0, work.blocks.along_b.count, [&](std::int64_t row) {
            ProfileCutter cutter({work.boundaries.begin(), work.boundaries.end()}, work.blocks.bins);
            for (std::int64_t a = 0; a < work.blocks.along_a.count; ++a)
                cut_block(work, cutter, row * work.blocks.along_a.count + a);
        });
    }

    void find_signal(const LayerVolume& volume, const SignalLevels& levels, std::uint8_t* has_signal) {
        parallel_for(0, volume.lines(), [&](std::int64_t line) {
            const float* rows = volume.line(line);
            std::int64_t bright = 0;
            for (int z = 0; z < volume.depth; ++z) bright += rows[z] > levels.bright ? 1 : 0;
            has_signal[line] = static_cast<double>(bright) >= levels.min_bright ? 1 : 0;
        });
    }

    void smooth(Array<float>& maps, std::int64_t count, std::int64_t a_scans, std::int64_t b_scans,
                const Array<float>& weights) {
        const MapSize size{a_scans, b_scans};
        const std::span<const float> by_distance(weights.data(), index(weights.count()));
        std::vector<float> out(index(size.count()));
        for (std::int64_t k = 0; k < count; ++k) {
            float* map = maps.data() + k * size.count();
            for (const bool along_b : {false, true}) {
                if ((along_b ? b_scans : a_scans) < 2) continue;
                smooth_axis(map, out.data(), size, along_b, by_distance);
                std::ranges::copy(out, map);
            }
        }
    }

    void fill_costs(const LayerVolume& volume, const PresentRows& present, const float* means, float* costs) {
        parallel_for(0, volume.b_scans, [&](std::int64_t b) {
            std::vector<double> sums;
            for (std::int64_t line = b * volume.a_scans; line < (b + 1) * volume.a_scans; ++line) {
                if (volume.has_signal[line] != 0) sum_up(volume.line(line), volume.depth, sums);
                for (int k = 0; k < present.boundaries; ++k) {
                    float* of_line = costs + (k * present.lines + line) * boundary_lanes;
                    std::fill_n(of_line, boundary_labels, 0.0f);
                    std::fill(of_line + boundary_labels, of_line + boundary_lanes, impossible);
                    BoundaryWindow window{};
                    if (!has_window(volume, present, means, k, line, false, window)) continue;
                    const int at = present.edge(k + 1, line);
                    for (int label = 0; label < boundary_labels; ++label)
                        of_line[label] = boundary_cost(window, at, label, sums.data(), volume.depth);
                }
            }
        });
    }

    template <class Done>
    void sweep(const LayerVolume& volume, const PresentRows& present, const float* smoothness, const float* costs,
               const SweptLines& swept, const Done& done) {
        for (int k = 0; k < present.boundaries; ++k) {
            const std::int64_t first = k * present.lines;
            sweep_boundary({volume.a_scans, volume.b_scans}, costs + first * boundary_lanes, present.rows + first,
                           {smoothness[k]}, {swept.labels + first, swept.quality + first, swept.is_ambiguous + first});
            done(1);
        }
    }

  private:
    static void average(const LayerVolume& volume, const BlocksOfLines& blocks, std::int64_t block, float* profile) {
        const std::int64_t a = block % blocks.along_a.count, b = block / blocks.along_a.count;
        std::vector<double> sums(index(blocks.bins));
        std::vector<std::int64_t> counts(index(blocks.bins));
        for (std::int64_t y = blocks.along_b.begin(b); y < blocks.along_b.begin(b + 1); ++y) {
            for (std::int64_t x = blocks.along_a.begin(a); x < blocks.along_a.begin(a + 1); ++x) {
                const float* line = volume.line(y * volume.a_scans + x);
                for (std::int64_t i = 0; i < blocks.bins; ++i) {
                    const float sum = line[2 * i] + line[2 * i + 1];
                    if (!is_recorded(sum)) continue;
                    sums[index(i)] += static_cast<double>(sum);
                    ++counts[index(i)];
                }
            }
        }
        for (std::int64_t i = 0; i < blocks.bins; ++i) {
            const std::int64_t voxels = rows_of_a_bin * counts[index(i)];
            profile[i] = voxels > 0 ? static_cast<float>(sums[index(i)] / static_cast<double>(voxels)) : 0;
        }
        fill_ends(counts, profile);
    }

    // Extends the nearest bin to the ends where no A-scan of the block was recorded. An edge there would be taken for a
    // boundary.
    static void fill_ends(const std::vector<std::int64_t>& counts, float* values) {
        const auto is_known = [](std::int64_t count) { return count > 0; };
        const auto first = std::ranges::find_if(counts, is_known) - counts.begin();
        if (first == std::ssize(counts)) return;
        const auto last = std::find_if(counts.rbegin(), counts.rend(), is_known).base() - counts.begin() - 1;
        std::fill(values, values + first, values[first]);
        std::fill(values + last + 1, values + counts.size(), values[last]);
    }

    // Cuts the profile of a block into layers. Blocks without signal stay unknown.
    static void cut_block(const BlockCutArguments& work, ProfileCutter& cutter, std::int64_t block) {
        const float* bins = work.profiles + block * work.blocks.bins;
        std::vector<float> profile(bins, bins + work.blocks.bins);
        const auto bright = std::ranges::count_if(profile, [&](float bin) { return bin > work.level; });
        work.has_tissue[block] = rows_of_a_bin * bright >= min_signal_rows ? 1 : 0;
        work.is_known[block] = 0;
        if (work.has_tissue[block] == 0) return;
        for (float& bin : profile) bin += work.added;
        const std::vector<std::int64_t> found = cutter(profile);
        for (std::size_t k = 0; k < found.size(); ++k)
            work.places[static_cast<std::int64_t>(k) * work.blocks.count() + block] = static_cast<float>(found[k]);
        work.is_known[block] = found.empty() ? 0 : 1;
    }

    // Sweeps in both directions. `costs`: [A-scan][lane], `rows`: the row of the centre label per A-scan.
    void sweep_boundary(const MapSize& size, const float* costs, const std::int32_t* rows, const SweepStep& step,
                        const SweptLines& swept) {
        const bool has_b = size.b_scans > 1, has_a = size.a_scans > 1 || !has_b;
        const auto lanes = index(size.count() * boundary_lanes);
        along_a_.resize(has_a ? lanes : 0);
        along_b_.resize(has_b ? lanes : 0);
        if (has_a) to_and_fro(costs, rows, size, false, step, along_a_.data());
        if (has_b) to_and_fro(costs, rows, size, true, step, along_b_.data());
        parallel_for(0, size.b_scans, [&](std::int64_t b) {
            for (std::int64_t line = b * size.a_scans; line < (b + 1) * size.a_scans; ++line)
                choose_label(line, costs + line * boundary_lanes, swept);
        });
    }

    void choose_label(std::int64_t line, const float* costs, const SweptLines& swept) const {
        const std::int64_t at = line * boundary_lanes;
        Lanes sums{};
        swept.is_ambiguous[line] = 0;
        if (along_a_.empty() || along_b_.empty()) {
            std::copy_n((along_a_.empty() ? along_b_ : along_a_).data() + at, boundary_lanes, sums.begin());
        } else {
            const float *along_a = along_a_.data() + at, *along_b = along_b_.data() + at;
            for (std::size_t lane = 0; lane < boundary_lanes; ++lane)
                sums[lane] = SweepStep::crossed(along_a[lane], along_b[lane], costs[lane]);
            swept.is_ambiguous[line] = SweepStep::are_far_apart(best_of(along_a), best_of(along_b)) ? 1 : 0;
        }
        swept.labels[line] = best_of(sums.data());
        swept.quality[line] = quality_of(sums.data(), swept.labels[line]);
    }

    std::vector<float> along_a_, along_b_;  // total costs of a boundary, [A-scan][lane]; empty: no such direction
};

}  // namespace

std::unique_ptr<BoundarySearch> boundary_search_on_cpu(const float* intensity, const SurfaceTables& tables) {
    return std::make_unique<BoundarySearchOn<LayersOnCpu>>(intensity, tables);
}

}  // namespace echolux
