#include "engine/registration/strips.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compute/steps/registration.h"
#include "engine/registration/features.h"

namespace echolux {
namespace {

constexpr std::size_t kept = 3;  // candidates per strip
// Cost of a jump between strips, per B-scan, in units of correlation.
constexpr float step_cost = 0.02F, max_step_cost = 0.3F;

// A possible match of a strip, `y` B-scans further in the reference.
struct Candidate {
    std::int64_t y = 0;
    CoarsePeak peak;
};

// Returns the best candidates in descending order; equal ones keep the order of their offsets. Skips candidates next to
// a better one.
std::vector<Candidate> best_of(std::vector<Candidate> all) {
    std::ranges::stable_sort(all, [](const Candidate& a, const Candidate& b) { return a.peak.value > b.peak.value; });
    std::vector<Candidate> best;
    for (const Candidate& one : all) {
        const bool is_near = std::ranges::any_of(best, [&](const Candidate& other) {
            return std::abs(other.y - one.y) <= 1 && std::abs(other.peak.z - one.peak.z) < 2 &&
                   std::abs(other.peak.x - one.peak.x) < 2;
        });
        if (!is_near) best.push_back(one);
        if (best.size() == kept) break;
    }
    return best;
}

// Returns the candidate of each strip on the path with the highest correlation and the fewest jumps; null for strips
// without candidates. Viterbi algorithm.
std::vector<const Candidate*> likely_path(const std::vector<std::vector<Candidate>>& strips) {
    struct Step {
        float cost;
        std::size_t from;
    };
    const auto count = strips.size();
    std::vector<std::vector<Step>> steps(count);
    std::vector<std::size_t> before(count, count);  // previous strip with candidates
    std::size_t last = count;
    for (std::size_t j = 0; j < count; ++j) {
        if (strips[j].empty()) continue;
        before[j] = last;
        for (const Candidate& here : strips[j]) {
            Step best{-here.peak.value, 0};
            if (last != count) {
                float least = std::numeric_limits<float>::infinity();
                for (std::size_t k = 0; k < strips[last].size(); ++k) {
                    const auto jump =
                        static_cast<float>(std::abs(here.y - strips[last][k].y)) - static_cast<float>(j - last);
                    const float cost = steps[last][k].cost + std::clamp(step_cost * jump, 0.0F, max_step_cost);
                    if (cost < least) {
                        least = cost;
                        best.from = k;
                    }
                }
                best.cost += least;
            }
            steps[j].push_back(best);
        }
        last = j;
    }
    std::vector<const Candidate*> path(count, nullptr);
    if (last == count) return path;
    auto at = static_cast<std::size_t>(std::ranges::min_element(steps[last], {}, &Step::cost) - steps[last].begin());
    for (std::size_t j = last; j != count; j = before[j]) {
        path[j] = &strips[j][at];
        at = steps[j][at].from;
    }
    return path;
}

// Refines the position of a strip to a fraction of a sample: climbs from the coarse peak, then fits parabolas.
class FinePlace {
  public:
    FinePlace(const RegistrationSettings& settings, const StripCorrelation& correlation, std::int64_t row)
        : correlation_(correlation), row_(row), max_z_(settings.axial_range), max_x_(settings.lateral_range),
          max_y_(settings.row_range) {}

    StripPlace from(const Candidate& coarse_one, std::int64_t first_y, std::int64_t last_y) const {
        constexpr int max_moves = 3;
        std::int64_t y = coarse_one.y;
        Place middle = uphill(y, {in_range(coarse_one.peak.z, max_z_), in_range(coarse_one.peak.x, max_x_), -1});
        Place below, above;
        for (int move = 0;; ++move) {
            below = y > first_y ? uphill(y - 1, middle) : Place{};
            above = y < last_y ? uphill(y + 1, middle) : Place{};
            const bool is_top = below.value <= middle.value && above.value <= middle.value;
            if (is_top || move == max_moves) break;
            y += above.value > below.value ? 1 : -1;
            middle = above.value > below.value ? above : below;
        }
        const auto [z, x, value] = middle;
        const auto beside = [&](std::int64_t dz, std::int64_t dx) { return correlation(y, z + dz, x + dx); };
        StripPlace place;
        const bool inside_z = std::abs(z) < max_z_, inside_x = std::abs(x) < max_x_;
        place.z = static_cast<double>(z);
        place.x = static_cast<double>(x);
        if (inside_z) place.z += static_cast<double>(parabola_peak(beside(-1, 0), value, beside(1, 0)));
        if (inside_x) place.x += static_cast<double>(parabola_peak(beside(0, -1), value, beside(0, 1)));
        place.y = static_cast<double>(y);
        if (below.value > -1 && above.value > -1) {
            place.y += static_cast<double>(parabola_peak(below.value, value, above.value));
        }
        place.quality = static_cast<double>(value);
        if (y < last_y && above.value <= -1) place.past = 1;
        if (y > first_y && below.value <= -1) place.past = -1;
        place.ratio =
            coarse_one.peak.second > 0 ? static_cast<double>(coarse_one.peak.value / coarse_one.peak.second) : 1e3;
        // A single offset has no border.
        const bool inside_y = first_y == last_y || std::abs(y) < max_y_;
        const bool is_at_end = (max_z_ > 0 && !inside_z) || (max_x_ > 0 && !inside_x) || (max_y_ > 0 && !inside_y);
        place.is_at_border = coarse_one.peak.is_at_border != 0 || is_at_end;
        return place;
    }

  private:
    struct Place {
        std::int64_t z = 0, x = 0;
        float value = -1;
    };

    // The coarse range is rounded up and may exceed the requested one.
    static std::int64_t in_range(float coarse_shift, std::int64_t range) {
        return std::clamp<std::int64_t>(std::llround(static_cast<float>(coarse_times) * coarse_shift), -range, range);
    }

    float correlation(std::int64_t y, std::int64_t z, std::int64_t x) const {
        return std::abs(z) > max_z_ || std::abs(x) > max_x_ ? -1 : correlation_(row_, y, z, x);
    }

    // Climbs until no neighbour along an axis is higher. Tries the last successful direction first, and its opposite
    // last.
    Place uphill(std::int64_t y, Place at) const {
        constexpr int max_steps = 24;
        at.value = correlation(y, at.z, at.x);
        if (at.value <= -1) return at;
        std::array<std::array<std::int64_t, 2>, 4> ways{{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}};
        std::size_t tried = 0;
        for (int step = 0; step < max_steps && tried < ways.size();) {
            const Place next{at.z + ways[tried][0], at.x + ways[tried][1], 0};
            const float value = correlation(y, next.z, next.x);
            if (value <= at.value) {
                ++tried;
                continue;
            }
            at = {next.z, next.x, value};
            std::swap(ways[0], ways[tried]);
            const std::array<std::int64_t, 2> back{-ways[0][0], -ways[0][1]};
            std::iter_swap(std::ranges::find(ways, back), ways.end() - 1);
            tried = 0;
            ++step;
        }
        return at;
    }

    const StripCorrelation& correlation_;
    std::int64_t row_, max_z_, max_x_, max_y_;
};

// Returns the coarse range that covers a fine one, limited to the length of the data.
std::int32_t coarse_shift(std::int64_t range, std::int64_t length) {
    return static_cast<std::int32_t>((std::min(range, length - 1) + coarse_times - 1) / coarse_times);
}

}  // namespace

std::vector<StripPlace> match_strips(StripPairs& pairs, std::int64_t depth, std::int64_t a_scans, std::int64_t first_y,
                                     std::int64_t last_y, const RegistrationSettings& settings, Progress& told) {
    const std::int64_t half = settings.strip / 2;
    const StripRanges ranges{half, first_y, last_y, coarse_shift(settings.axial_range, depth),
                             coarse_shift(settings.lateral_range, a_scans)};
    const std::vector<CoarsePeak> peaks = pairs.peaks(ranges, told);
    const StripRows rows = pairs.coarse_strips(half);
    std::vector<std::vector<Candidate>> strips(static_cast<std::size_t>(rows.moving_rows));
    for (std::int64_t row = 0; row < rows.moving_rows; ++row) {
        std::vector<Candidate> all;
        for (std::int64_t y = first_y; y <= last_y; ++y) {
            if (rows.of(row, y).count() == 0) continue;
            all.push_back({y, peaks[static_cast<std::size_t>(row * ranges.offsets() + y - first_y)]});
        }
        strips[static_cast<std::size_t>(row)] = best_of(std::move(all));
    }
    const std::vector<const Candidate*> path = likely_path(strips);
    std::vector<bool> wanted;
    for (const Candidate* candidate : path) wanted.push_back(candidate != nullptr);
    std::vector<StripPlace> places(path.size());
    const FindPlace find = [&](std::int64_t row, const StripCorrelation& correlation) {
        return FinePlace(settings, correlation, row).from(*path[static_cast<std::size_t>(row)], first_y, last_y);
    };
    pairs.find(half, wanted, find, places);
    return places;
}

}  // namespace echolux
