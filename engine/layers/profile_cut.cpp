#include "engine/layers/profile_cut.h"

#include <algorithm>
#include <array>

namespace echolux {
namespace {

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

}  // namespace

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

}  // namespace echolux
