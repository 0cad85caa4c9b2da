#include "compute/on_chip.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "compute/indexing.h"
#include "compute/steps/sparse.h"

namespace echolux::cuda {
namespace {

// Does the same for radices of at most `largest`.
std::vector<int> fewest_radices_below(int n, int largest) {
    std::vector<int> fewest;
    for (const int radix : {16, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2}) {
        if (radix > largest || n % radix != 0) continue;
        std::vector<int> radices{radix};
        if (n > radix) {
            const std::vector<int> others = fewest_radices_below(n / radix, radix);
            if (others.empty()) continue;
            radices.insert(radices.end(), others.begin(), others.end());
        }
        const auto sum = [](const std::vector<int>& all) { return std::accumulate(all.begin(), all.end(), 0); };
        if (fewest.empty() || radices.size() < fewest.size() ||
            (radices.size() == fewest.size() && sum(radices) < sum(fewest))) {
            fewest = radices;
        }
    }
    return fewest;
}

// Estimates bank conflicts: shared memory accesses relative to the ideal. Eight points of 16 bytes are served at once
// unless two share banks. Simulated for the first threads of each stage.
double conflicts(const MixedRadix& length) {
    constexpr int served = 8, counted = 64 * served;
    double turns = 0, wanted = 0;
    for (int s = 0; s < length.stages; ++s) {
        const MixedStage& stage = length.stage[s];
        const double points = stage.radix * (s == 0 || s + 1 == length.stages ? 1.0 : 2.0) * stage.butterflies;
        int here = 0, groups = 0;
        for (int first = 0; first < std::min(stage.butterflies, counted); first += served, ++groups) {
            std::array<int, served> in_banks{};
            for (int u = first; u < std::min(first + served, stage.butterflies); ++u) {
                ++in_banks[index(place_of(stage, s, u) % served)];
            }
            here += *std::ranges::max_element(in_banks);
        }
        turns += points * here / groups;
        wanted += points;
    }
    return turns / wanted;
}

}  // namespace

std::vector<int> fewest_radices(int n) {
    return fewest_radices_below(n, 16);
}

std::optional<MixedRadix> mixed_radix_of(std::int64_t n) {
    if (n < 64 || n > 8192) return {};
    std::vector<int> radices = fewest_radices(static_cast<int>(n));
    if (radices.empty()) return {};
    std::ranges::sort(radices);
    MixedRadix best;
    double least = 1e9;
    do {
        for (int padding = 0; padding < 8; ++padding) {
            const MixedRadix length = mixed_radix(radices, padding);
            const double these = conflicts(length);
            if (these < least) least = these, best = length;
        }
    } while (std::ranges::next_permutation(radices).found);
    return best;
}

constexpr int warp = 32;

static int whole_warps(int threads) {
    return (threads + warp - 1) / warp;
}

// Returns the active warps in a stage, one butterfly per thread, per pair of lines. Groups need not be aligned to
// warps.
static double warps_at_work(const MixedStage& stage, int threads, int groups) {
    int all = 0;
    for (int done = 0; done < stage.butterflies; done += threads) {
        const int at_work = std::min(threads, stage.butterflies - done);
        for (int group = 0, counted = 0; group < groups; ++group) {
            const int first = group * threads / warp, end = whole_warps(group * threads + at_work);
            all += end - std::max(first, counted);
            counted = end;
        }
    }
    return static_cast<double>(all) / groups;
}

// Estimates the cost of a pair of lines in arbitrary units: instructions, penalized if there are too few threads to
// hide memory latency, and if there are too few blocks to fill barrier stalls. The constants are fitted: for 25 lengths
// in 12,000 shapes on an H200, the selected shapes are on average 3 % and at most 8 % slower than the best.
static double cost(const MixedShape& shape, std::int64_t max_shared_bytes) {
    constexpr double enough_warps = 18, of_barriers = 0.2, beside_radix = 2;
    const int warps = whole_warps(shape.threads * shape.groups);
    const int by_registers = MixedShape::max_block / (warps * warp);
    const int by_memory = static_cast<int>(max_shared_bytes / shape.shared_bytes());
    const int blocks = std::min(by_registers, by_memory);
    double instructions = 0;
    for (int s = 0; s < shape.length.stages; ++s) {
        const MixedStage& stage = shape.length.stage[s];
        instructions += (stage.radix + beside_radix) * warps_at_work(stage, shape.threads, shape.groups);
    }
    return instructions * (1 + of_barriers / blocks) * std::sqrt(std::max(1.0, enough_warps / (blocks * warps)));
}

// Returns candidates for the threads per group: fractions of the butterflies of a stage, or whole warps.
static std::vector<int> threads_to_try(const MixedRadix& length) {
    std::vector<int> all{32, 64, 96, 128, 160, 192, 256, 320};
    for (int s = 0; s < length.stages; ++s) {
        const int butterflies = length.stage[s].butterflies;
        for (int rounds = 1; rounds <= 4; ++rounds) all.push_back((butterflies + rounds - 1) / rounds);
    }
    return all;
}

// Returns the cheapest of all shapes that fit.
std::optional<MixedShape> mixed_shape(std::int64_t transform, std::int64_t samples, std::int64_t voxel_bytes,
                                      std::int64_t max_shared_bytes) {
    const std::optional<MixedRadix> length = mixed_radix_of(transform);
    if (!length) return {};
    MixedShape shape{*length, 1, 1, MixedShape::row_bytes_for(samples, transform / 2 * voxel_bytes)};
    if (shape.shared_bytes() > max_shared_bytes) return {};
    std::optional<MixedShape> best;
    double least = 0;
    for (const int threads : threads_to_try(*length)) {
        for (const int groups : {1, 2, 3, 4, 6, 8, 16}) {
            shape.groups = groups;
            shape.threads = threads;
            const int block = threads * groups;
            if (block < 2 * warp || block > MixedShape::max_block || shape.shared_bytes() > max_shared_bytes) continue;
            const double these = cost(shape, max_shared_bytes);
            if (!best || these < least) best = shape, least = these;
        }
    }
    return best;
}

std::int64_t exchange_points(std::int64_t n) {
    std::int64_t points = 0;
    with_transform_size(n, [&](auto size) { points = decltype(size)::exchange_points; });
    return points;
}

std::int64_t fused_bytes(std::int64_t transform, std::int64_t lines, std::int64_t voxel_bytes) {
    std::int64_t bytes = 0;
    with_transform_size(transform, [&](auto size) {
        using Size = decltype(size);
        const std::int64_t rows = lines * (Size::n / 2) * voxel_bytes;
        bytes = fused_groups(Size::threads) * (Size::exchange_points * point_pair_bytes + rows);
    });
    return bytes;
}

std::int64_t upsampling_bytes(std::int64_t padded, std::int64_t factor) {
    constexpr std::int64_t samples_bytes = 8;  // of two lines
    return (factor - 1) * padded * samples_bytes + exchange_points(padded / 2) * point_pair_bytes;
}

std::int64_t sparse_search_bytes(std::int64_t modes, std::int64_t sensed) {
    constexpr std::int64_t warps = 32, sample_bytes = 4;
    return exchange_points(2 * modes) * point_bytes + 2 * sensed * sample_bytes +
           warps * std::int64_t{sizeof(StepSums<float>)};
}

// Returns the columns that blocks process relative to the existing ones.
static double filled(int transforms) {
    constexpr int together = TwoPassLength::columns;
    return static_cast<double>((transforms + together - 1) / together * together) / transforms;
}

// Prefers few stages, full blocks, and similar passes. The second pass can store codes if sixteen of its transforms
// start at a multiple of sixteen bins; otherwise bins are written and read once more.
std::optional<TwoPassLength> two_pass_length(std::int64_t n, std::int64_t max_shared_bytes) {
    constexpr std::int64_t fits_in_one_pass = 8192, max_n = 65536;
    constexpr int max_transform = 256;
    if (n <= fits_in_one_pass || n > max_n) return {};
    std::optional<TwoPassLength> best;
    double least = 0;
    for (int a = 2; a <= max_transform; ++a) {
        const auto b = static_cast<int>(n / a);
        if (n % a != 0 || b > max_transform) continue;
        const std::vector<int> first = fewest_radices(a), second = fewest_radices(b);
        if (first.size() < 2 || second.size() < 2) continue;
        const TwoPassLength length{mixed_radix(first, 0), mixed_radix(second, 0)};
        if (TwoPassLength::shared_bytes(length.first) > max_shared_bytes ||
            TwoPassLength::shared_bytes(length.second) + length.code_bytes() > max_shared_bytes)
            continue;
        const double unlike = std::abs(std::log(static_cast<double>(a) / b)) / 100;
        const double stages = length.first.stages * filled(b) + length.second.stages * filled(a);
        const double cost = stages * (a % TwoPassLength::columns == 0 ? 1 : 1.5) + unlike;
        if (!best || cost < least) best = length, least = cost;
    }
    return best;
}

}  // namespace echolux::cuda
