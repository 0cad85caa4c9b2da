#include "compute/cuda/mixed_radix.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "compute/indexing.h"

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

std::vector<float2> mixed_radix_twiddles(const MixedRadix& length) {
    std::vector<float2> table;
    for (int s = 1; s < length.stages; ++s) append_twiddles(table, length.stage[s].radix, length.stage[s].length);
    return table;
}

}  // namespace echolux::cuda
