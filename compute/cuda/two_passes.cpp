// Host side of transforms in two passes: factorization of a length.
#include "compute/cuda/two_passes.h"

#include <cmath>
#include <numbers>

namespace echolux::cuda {
namespace {

// Returns the columns that blocks process relative to the existing ones.
double filled(int transforms) {
    constexpr int together = TwoPassLength::columns;
    return static_cast<double>((transforms + together - 1) / together * together) / transforms;
}

}  // namespace

std::optional<TwoPassLength> two_pass_length(std::int64_t n) {
    return two_pass_length(n, max_shared_bytes());
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

// exp(-2 pi i k c / n) for bin k of the first pass's transform c.
std::vector<float2> two_pass_twiddles(const TwoPassLength& length) {
    std::vector<float2> table;
    for (int bin = 0; bin < length.first.n; ++bin) {
        for (int c = 0; c < length.second.n; ++c) {
            const double angle = -2 * std::numbers::pi * (static_cast<double>(bin) * c / length.n());
            table.push_back({static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))});
        }
    }
    return table;
}

}  // namespace echolux::cuda
