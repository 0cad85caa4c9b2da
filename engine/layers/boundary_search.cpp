#include "engine/layers/boundary_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/steps/layers.h"
#include "compute/tissue_on_gpu.h"

namespace echolux {

namespace {

// Smooths one row of a map. `weights` are those of half_gaussian().
void smooth_along_a(const float* row, float* out, std::int64_t count, const std::vector<float>& weights) {
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
void smooth_along_b(const std::vector<float>& map, float* out, const MapSize& size, std::int64_t b,
                    const std::vector<float>& weights) {
    const auto row = [&](std::int64_t of) {
        return map.data() + std::clamp<std::int64_t>(of, 0, size.b_scans - 1) * size.a_scans;
    };
    for (std::int64_t a = 0; a < size.a_scans; ++a) out[a] = weights[0] * row(b)[a];
    for (std::int64_t d = 1; d < std::ssize(weights); ++d) {
        const float weight = weights[index(d)];
        const float *before = row(b - d), *after = row(b + d);
        for (std::int64_t a = 0; a < size.a_scans; ++a) out[a] += weight * (before[a] + after[a]);
    }
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
        if (counts[i] > min_mean_weight) map[i] = sums[i] / counts[i];
    }
}

std::vector<float> median_of_neighbours(const std::vector<float>& map, const MapSize& size) {
    std::vector<float> out(map.size());
    for (std::int64_t b = 0; b < size.b_scans; ++b) {
        for (std::int64_t a = 0; a < size.a_scans; ++a)
            out[index(b * size.a_scans + a)] = MedianOfNeighbours{}(map.data(), size.a_scans, size.b_scans, b, a);
    }
    return out;
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

std::vector<float> without_outliers(const std::vector<float>& map, const MapSize& size, std::int64_t reach,
                                    double limit) {
    std::vector<float> out(map.size());
    const RobustSurface surface{map.data(), size.a_scans, size.b_scans, reach, limit};
    parallel_for(0, size.b_scans, [&](std::int64_t b) {
        for (std::int64_t a = 0; a < size.a_scans; ++a)
            out[index(b * size.a_scans + a)] = surface.without_outlier(b, a);
    });
    return out;
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
constexpr std::int64_t rows_together = rows_of_a_bin;
constexpr double floor_share = 0.05;  // share of the bins that are darker than the noise floor
// Extra pieces for tissue below the last boundary. It fades, and without them boundaries would follow the fading.
constexpr int pieces_below = 5;
constexpr std::int64_t outlier_reach = 3;  // blocks on either side; vessels hide boundaries in fewer blocks than that
constexpr double outlier_bins = 3;         // distance from the surface of the surrounding blocks
constexpr double block_smoothing = 0.7;    // sigma in blocks

// Mean intensity profiles of blocks of A-scans, in bins of two rows.
class BlockProfiles {
  public:
    BlockProfiles(const std::vector<float>& intensity, const Size3& size)
        : b_(blocks_along_b(size)), a_(blocks_along_a(size)), bins_(size[0] / rows_together),
          values_(index(map().count() * bins_)) {
        parallel_for(0, map().count(), [&](std::int64_t block) { average(intensity, size, block); });
    }

    MapSize map() const { return {a_.count, b_.count}; }
    std::int64_t bins() const { return bins_; }
    const BlockAxis& along_a() const { return a_; }
    const BlockAxis& along_b() const { return b_; }
    const std::vector<float>& values() const { return values_; }
    std::span<const float> profile(std::int64_t block) const {
        return std::span(values_).subspan(index(block * bins_), index(bins_));
    }

  private:
    void average(const std::vector<float>& intensity, const Size3& size, std::int64_t block) {
        const std::int64_t a = block % a_.count, b = block / a_.count;
        std::vector<double> sums(index(bins_));
        std::vector<std::int64_t> counts(index(bins_));
        for (std::int64_t y = b_.begin(b); y < b_.begin(b + 1); ++y) {
            for (std::int64_t x = a_.begin(a); x < a_.begin(a + 1); ++x) {
                const float* line = intensity.data() + (y * size[1] + x) * size[0];
                for (std::int64_t i = 0; i < bins_; ++i) {
                    const float sum = line[2 * i] + line[2 * i + 1];
                    if (!std::isfinite(sum)) continue;
                    sums[index(i)] += static_cast<double>(sum);
                    ++counts[index(i)];
                }
            }
        }
        for (std::int64_t i = 0; i < bins_; ++i) {
            const std::int64_t voxels = rows_together * counts[index(i)];
            values_[index(block * bins_ + i)] =
                voxels > 0 ? static_cast<float>(sums[index(i)] / static_cast<double>(voxels)) : 0;
        }
        fill_ends(counts, values_.data() + block * bins_);
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

    BlockAxis b_, a_;
    std::int64_t bins_;
    std::vector<float> values_;  // [block][bin]: mean intensity
};

// Returns the noise floor. Bins of exactly 0 were never recorded and do not count as noise.
double floor_of(const std::vector<float>& bins) {
    std::vector<float> some;
    std::ranges::copy_if(bins, std::back_inserter(some), [](float bin) { return bin > 0; });
    if (some.empty()) return 0;
    const auto place = some.begin() + std::lround(floor_share * static_cast<double>(some.size() - 1));
    std::ranges::nth_element(some, place);
    return static_cast<double>(*place);
}

// Converts boundaries from rows to bins.
std::vector<ProfileBoundary> in_bins(const std::vector<BoundaryOptions>& wanted, bool tissue_below) {
    std::vector<ProfileBoundary> boundaries;
    for (const BoundaryOptions& one : wanted) {
        boundaries.push_back({one.polarity, std::max(1, static_cast<std::int32_t>(one.min_rows / rows_together)),
                              static_cast<std::int32_t>(std::ceil(one.max_rows / rows_together))});
    }
    if (tissue_below) boundaries.insert(boundaries.end(), pieces_below, ProfileBoundary{-1, 1, 0});
    return boundaries;
}

// Returns whether enough voxels of an A-scan exceed the noise.
bool is_prominent(const float* line, std::int64_t rows, const SignalLevels& levels) {
    std::int64_t bright = 0;
    for (std::int64_t z = 0; z < rows; ++z) bright += line[z] > levels.bright ? 1 : 0;
    return static_cast<double>(bright) >= levels.min_bright;
}

// Boundary positions of each block in bins, valid if is_known.
struct BlockPositions {
    std::vector<std::vector<float>> bins;  // [boundary][block]
    std::vector<std::uint8_t> is_known, has_tissue;
};

// Cuts the profile of each block into layers. Blocks without signal stay unknown.
BlockPositions cut_blocks(const BlockProfiles& profiles, const std::vector<ProfileBoundary>& boundaries, double floor) {
    const std::int64_t blocks = profiles.map().count();
    BlockPositions places{std::vector(boundaries.size(), std::vector<float>(index(blocks))),
                          std::vector<std::uint8_t>(index(blocks)), std::vector<std::uint8_t>(index(blocks))};
    const float level = signal_over_floor * static_cast<float>(floor);
    const float least =
        std::max(static_cast<float>(floor) * 1e-3f, *std::ranges::max_element(profiles.values()) * 1e-9f);
    parallel_for(0, profiles.map().b_scans, [&](std::int64_t row) {
        ProfileCutter cut(boundaries, profiles.bins());
        std::vector<float> profile;
        for (std::int64_t block = row * profiles.map().a_scans; block < (row + 1) * profiles.map().a_scans; ++block) {
            const auto bins = profiles.profile(block);
            profile.assign(bins.begin(), bins.end());
            if (rows_together * std::ranges::count_if(profile, [&](float bin) { return bin > level; }) <
                min_signal_rows)
                continue;
            places.has_tissue[index(block)] = 1;
            for (float& bin : profile) bin += least;
            const std::vector<std::int64_t> found = cut(profile);
            for (std::size_t k = 0; k < found.size(); ++k) places.bins[k][index(block)] = static_cast<float>(found[k]);
            places.is_known[index(block)] = found.empty() ? 0 : 1;
        }
    });
    return places;
}

// Interpolates the values of blocks to A-scans.
std::vector<float> spread(const std::vector<float>& blocks, const BlockProfiles& profiles, const Size3& size) {
    std::vector<float> rows(index(size[1] * size[2]));
    std::vector<BlockAxis::Share> along_a;
    for (std::int64_t a = 0; a < size[1]; ++a) along_a.push_back(profiles.along_a().share(a));
    parallel_for(0, size[2], [&](std::int64_t b) {
        const BlockAxis::Share of_b = profiles.along_b().share(b);
        for (std::int64_t a = 0; a < size[1]; ++a)
            rows[index(b * size[1] + a)] =
                BetweenBlocks{}(blocks.data(), profiles.map().a_scans, along_a[index(a)], of_b);
    });
    return rows;
}

}  // namespace

BlockAxis blocks_along_a(const Size3& size) {
    return BlockAxis::of(size[1],
                         std::clamp(block_columns / std::min(size[2], block_reach), block_reach, longest_block));
}

BlockAxis blocks_along_b(const Size3& size) {
    return BlockAxis::of(size[2], block_reach);
}

// Noise alone exceeds 6 dB in exp(-4) of its voxels.
SignalLevels signal_levels(std::int64_t rows, double floor) {
    const double by_chance = static_cast<double>(rows) * std::exp(-static_cast<double>(signal_over_floor));
    const double least = min_signal_rows + by_chance + 3 * std::sqrt(by_chance);
    return {signal_over_floor * static_cast<float>(floor), std::min(least, 0.5 * static_cast<double>(rows)),
            min_layer_mean(floor), contrast_margin(floor), floor};
}

CoarseLayers coarse_layers(const std::vector<float>& intensity, const Size3& size,
                           const std::vector<BoundaryOptions>& wanted, bool tissue_below,
                           std::optional<double> known_floor) {
    const BlockProfiles profiles(intensity, size);
    CoarseLayers layers;
    layers.floor = std::min(floor_of(profiles.values()), known_floor.value_or(1e30));
    BlockPositions places = cut_blocks(profiles, in_bins(wanted, tissue_below), layers.floor);
    const auto is_set = [](std::uint8_t flag) { return flag != 0; };
    layers.is_found = std::ranges::any_of(places.is_known, is_set);
    layers.has_tissue = std::ranges::any_of(places.has_tissue, is_set);
    layers.has_signal.resize(index(size[1] * size[2]));
    if (!layers.is_found) return layers;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        fill_unknown(places.bins[k], places.is_known, profiles.map());
        std::vector<float> blocks = without_outliers(places.bins[k], profiles.map(), outlier_reach, outlier_bins);
        blocks = median_of_neighbours(blocks, profiles.map());
        smooth_map(blocks, profiles.map(), block_smoothing, block_smoothing);
        layers.places.push_back(spread(blocks, profiles, size));
    }
    const SignalLevels levels = signal_levels(size[0], layers.floor);
    parallel_for(0, std::ssize(layers.has_signal), [&](std::int64_t line) {
        layers.has_signal[index(line)] = is_prominent(intensity.data() + line * size[0], size[0], levels) ? 1 : 0;
    });
    return layers;
}

void set_coarse(SurfaceTables& tables, const std::vector<BoundaryOptions>& wanted, bool tissue_below,
                std::optional<double> known_floor) {
    tables.along_a = blocks_along_a(tables.size);
    tables.along_b = blocks_along_b(tables.size);
    tables.cut = in_bins(wanted, tissue_below);
    tables.floor_share = floor_share;
    tables.most_floor = known_floor.value_or(1e30);
    tables.outlier_reach = outlier_reach;
    tables.outlier_bins = outlier_bins;
    tables.block_weights = half_gaussian(block_smoothing);
}

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
    sums.resize(index(rows + 1));
    double sum = 0;
    for (std::int64_t z = 0; z < rows; ++z) {
        sums[index(z)] = sum;
        if (is_recorded(line[z])) sum += static_cast<double>(line[z]);
    }
    sums[index(rows)] = sum;
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
        for (auto line = index(b * size[1]); line < index((b + 1) * size[1]); ++line) {
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
    const float least = min_layer_mean(floor);
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

float min_layer_mean(double floor) {
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
        for (auto line = index(b * size[1]); line < index((b + 1) * size[1]); ++line) {
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
    std::vector<std::uint8_t> is_measured(has_signal.size());
    parallel_for(0, std::ssize(has_signal), [&](std::int64_t at) {
        const auto line = index(at);
        if (has_signal[line] == 0) return;
        const auto sides =
            BoundarySides::of(edges.of(line), static_cast<int>(boundary), intensity.data() + at * size[0]);
        is_measured[line] = sides.is_measured ? 1 : 0;
        above[line] = sides.above;
        below[line] = sides.below;
    });
    const MapSize map{size[1], size[2]};
    smooth_map(above, map, contrast_sigma, contrast_sigma);
    smooth_map(below, map, contrast_sigma, contrast_sigma);
    const float margin = contrast_margin(floor);
    parallel_for(0, map.b_scans, [&](std::int64_t b) {
        for (auto i = index(b * map.a_scans); i < index((b + 1) * map.a_scans); ++i)
            above[i] = is_measured[i] != 0 ? BoundarySides::contrast_db(above[i], below[i], margin) : untold;
    });
    return above;
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
void go(SweepPath& path, const std::vector<float>& costs, const std::vector<std::int32_t>& rows, std::int64_t first,
        std::int64_t count, std::int64_t stride, std::vector<float>& total) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t line = first + i * stride;
        const float* of_line = costs.data() + line * boundary_lanes;
        const std::int32_t row = rows[index(line)];
        const Lanes& sums = i == 0 ? path.first(of_line, row) : path.next(of_line, row);
        float* out = total.data() + line * boundary_lanes;
        if (stride > 0) {
            std::ranges::copy(sums, out);
        } else {
            for (std::size_t lane = 0; lane < boundary_lanes; ++lane)
                out[lane] = SweepStep::both_directions(out[lane], sums[lane], of_line[lane]);
        }
    }
}

// Sweeps forwards and backwards along A-scans or along B-scans.
std::vector<float> to_and_fro(const std::vector<float>& costs, const std::vector<std::int32_t>& rows,
                              const MapSize& size, bool along_b, const SweepStep& step) {
    std::vector<float> total(costs.size());
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
        for (auto line = index(b * size.a_scans); line < index((b + 1) * size.a_scans); ++line) {
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
                                     const BoundaryCallback& done) override {
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
