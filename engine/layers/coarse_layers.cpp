#include "engine/layers/coarse_layers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/parallel_for.h"
#include "compute/steps/layers.h"
#include "engine/layers/boundary_search.h"
#include "engine/layers/map_smoothing.h"

namespace echolux {

// Cuts one depth profile into pieces of constant brightness. Finds the exact maximum likelihood cut of exponentially
// distributed intensities by dynamic programming over all positions of all boundaries.

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
            const auto l = static_cast<std::size_t>(lane);
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
    : boundaries_(std::move(boundaries)), bins_(bins), stride_(bins + 1), sums_(static_cast<std::size_t>(bins + 1)),
      pieces_(static_cast<std::size_t>((bins + 1) * (bins + 1))),
      from_(boundaries_.size() * static_cast<std::size_t>(bins + 1)) {
    for (std::size_t k = 1; k < boundaries_.size(); ++k) {
        longest_ =
            std::max(longest_, boundaries_[k].max == 0 ? bins : std::min<std::int64_t>(bins, boundaries_[k].max));
    }
}

// Computes the costs of pieces. Those from the top and to the bottom may have any length, those between boundaries at
// most longest_.
void ProfileCutter::find_pieces(std::span<const float> profile) {
    for (std::int64_t i = 0; i < bins_; ++i) {
        const auto at = static_cast<std::size_t>(i);
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
        costs[static_cast<std::size_t>(end)] = cut().later(boundary, static_cast<std::int32_t>(end), least.cost);
        from[end] = least.at;
    }
}

std::vector<std::int64_t> ProfileCutter::operator()(std::span<const float> profile) {
    find_pieces(profile);
    std::vector<float> costs(static_cast<std::size_t>(stride_), ruled_out), above;
    const ProfileBoundary& top = boundaries_.front();
    for (std::int64_t end = 1; end < bins_; ++end)
        costs[static_cast<std::size_t>(end)] = cut().first(top, static_cast<std::int32_t>(end));
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
        if (k > 0) at = from_[k * static_cast<std::size_t>(stride_) + static_cast<std::size_t>(at)];
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
          values_(static_cast<std::size_t>(map().count() * bins_)) {
        parallel_for(0, map().count(), [&](std::int64_t block) { average(intensity, size, block); });
    }

    MapSize map() const { return {a_.count, b_.count}; }
    std::int64_t bins() const { return bins_; }
    const BlockAxis& along_a() const { return a_; }
    const BlockAxis& along_b() const { return b_; }
    const std::vector<float>& values() const { return values_; }
    std::span<const float> profile(std::int64_t block) const {
        return std::span(values_).subspan(static_cast<std::size_t>(block * bins_), static_cast<std::size_t>(bins_));
    }

  private:
    void average(const std::vector<float>& intensity, const Size3& size, std::int64_t block) {
        const std::int64_t a = block % a_.count, b = block / a_.count;
        std::vector<double> sums(static_cast<std::size_t>(bins_));
        std::vector<std::int64_t> counts(static_cast<std::size_t>(bins_));
        for (std::int64_t y = b_.begin(b); y < b_.begin(b + 1); ++y) {
            for (std::int64_t x = a_.begin(a); x < a_.begin(a + 1); ++x) {
                const float* line = intensity.data() + (y * size[1] + x) * size[0];
                for (std::int64_t i = 0; i < bins_; ++i) {
                    const float sum = line[2 * i] + line[2 * i + 1];
                    if (!std::isfinite(sum)) continue;
                    sums[static_cast<std::size_t>(i)] += static_cast<double>(sum);
                    ++counts[static_cast<std::size_t>(i)];
                }
            }
        }
        for (std::int64_t i = 0; i < bins_; ++i) {
            const std::int64_t voxels = rows_together * counts[static_cast<std::size_t>(i)];
            values_[static_cast<std::size_t>(block * bins_ + i)] =
                voxels > 0 ? static_cast<float>(sums[static_cast<std::size_t>(i)] / static_cast<double>(voxels)) : 0;
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
std::vector<ProfileBoundary> in_bins(const std::vector<WantedBoundary>& wanted, bool tissue_below) {
    std::vector<ProfileBoundary> boundaries;
    for (const WantedBoundary& one : wanted) {
        boundaries.push_back({one.polarity, std::max(1, static_cast<std::int32_t>(one.min_rows / rows_together)),
                              static_cast<std::int32_t>(std::ceil(one.max_rows / rows_together))});
    }
    if (tissue_below) boundaries.insert(boundaries.end(), pieces_below, ProfileBoundary{-1, 1, 0});
    return boundaries;
}

// Returns whether enough voxels of an A-scan exceed the noise.
bool stands_out(const float* line, std::int64_t rows, const SignalLevels& levels) {
    std::int64_t bright = 0;
    for (std::int64_t z = 0; z < rows; ++z) bright += line[z] > levels.bright ? 1 : 0;
    return static_cast<double>(bright) >= levels.least_bright;
}

// Boundary positions of each block in bins, valid if is_known.
struct BlockPlaces {
    std::vector<std::vector<float>> bins;  // [boundary][block]
    std::vector<std::uint8_t> is_known, has_tissue;
};

// Cuts the profile of each block into layers. Blocks without signal stay unknown.
BlockPlaces cut_blocks(const BlockProfiles& profiles, const std::vector<ProfileBoundary>& boundaries, double floor) {
    const std::int64_t blocks = profiles.map().count();
    BlockPlaces places{std::vector(boundaries.size(), std::vector<float>(static_cast<std::size_t>(blocks))),
                       std::vector<std::uint8_t>(static_cast<std::size_t>(blocks)),
                       std::vector<std::uint8_t>(static_cast<std::size_t>(blocks))};
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
                least_signal_rows)
                continue;
            places.has_tissue[static_cast<std::size_t>(block)] = 1;
            for (float& bin : profile) bin += least;
            const std::vector<std::int64_t> found = cut(profile);
            for (std::size_t k = 0; k < found.size(); ++k)
                places.bins[k][static_cast<std::size_t>(block)] = static_cast<float>(found[k]);
            places.is_known[static_cast<std::size_t>(block)] = found.empty() ? 0 : 1;
        }
    });
    return places;
}

// Interpolates the values of blocks to A-scans.
std::vector<float> spread(const std::vector<float>& blocks, const BlockProfiles& profiles, const Size3& size) {
    std::vector<float> rows(static_cast<std::size_t>(size[1] * size[2]));
    std::vector<BlockAxis::Share> along_a;
    for (std::int64_t a = 0; a < size[1]; ++a) along_a.push_back(profiles.along_a().share(a));
    parallel_for(0, size[2], [&](std::int64_t b) {
        const BlockAxis::Share of_b = profiles.along_b().share(b);
        for (std::int64_t a = 0; a < size[1]; ++a)
            rows[static_cast<std::size_t>(b * size[1] + a)] =
                BetweenBlocks{}(blocks.data(), profiles.map().a_scans, along_a[static_cast<std::size_t>(a)], of_b);
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
    const double least = least_signal_rows + by_chance + 3 * std::sqrt(by_chance);
    return {signal_over_floor * static_cast<float>(floor), std::min(least, 0.5 * static_cast<double>(rows)),
            least_layer_mean(floor), contrast_margin(floor), floor};
}

CoarseLayers coarse_layers(const std::vector<float>& intensity, const Size3& size,
                           const std::vector<WantedBoundary>& wanted, bool tissue_below,
                           std::optional<double> known_floor) {
    const BlockProfiles profiles(intensity, size);
    CoarseLayers layers;
    layers.floor = std::min(floor_of(profiles.values()), known_floor.value_or(1e30));
    BlockPlaces places = cut_blocks(profiles, in_bins(wanted, tissue_below), layers.floor);
    const auto is_set = [](std::uint8_t flag) { return flag != 0; };
    layers.is_found = std::ranges::any_of(places.is_known, is_set);
    layers.has_tissue = std::ranges::any_of(places.has_tissue, is_set);
    layers.has_signal.resize(static_cast<std::size_t>(size[1] * size[2]));
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
        layers.has_signal[static_cast<std::size_t>(line)] =
            stands_out(intensity.data() + line * size[0], size[0], levels) ? 1 : 0;
    });
    return layers;
}

void set_coarse(SurfaceTables& tables, const std::vector<WantedBoundary>& wanted, bool tissue_below,
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

}  // namespace echolux
