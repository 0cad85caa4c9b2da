#include "engine/layers/sweeps.h"

#include <algorithm>
#include <array>

#include "compute/parallel_for.h"

namespace echolux {
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

}  // namespace

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

}  // namespace echolux
