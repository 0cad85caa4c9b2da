#include "engine/registration/strips.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>

#include "compute/parallel_for.h"
#include "compute/steps/registration.h"
#include "engine/registration/correlation.h"

namespace echolux {
namespace {

constexpr std::int64_t coarse = 4;  // fine samples along depth and A-scans in a coarse one
constexpr std::size_t kept = 3;     // candidates of a strip
constexpr float step_cost = 0.02F, max_step_cost = 0.3F;
constexpr std::int64_t rows_together = 8;  // that one thread takes

// A match of a strip `y` rows further on in the reference.
struct Candidate {
    std::int64_t y = 0;
    CoarsePeak peak;
};

RowFeatures coarser(const RowFeatures& fine) {
    RowFeatures all{.depth = (fine.depth + coarse - 1) / coarse,
                    .a_scans = (fine.a_scans + coarse - 1) / coarse,
                    .rows = fine.rows,
                    .values = {},
                    .norms = {}};
    const std::int64_t of_row = all.depth * all.a_scans;
    all.values.assign(static_cast<std::size_t>(of_row * all.rows), 0.0F);
    all.norms.resize(fine.norms.size());
    parallel_for(0, all.rows, [&](std::int64_t row) {
        float* to = all.values.data() + row * of_row;
        const float* from = fine.row(row);
        for (std::int64_t a = 0; a < fine.a_scans; ++a) {
            for (std::int64_t z = 0; z < fine.depth; ++z)
                to[a / coarse * all.depth + z / coarse] += from[a * fine.depth + z];
        }
        double square = 0;
        for (std::int64_t i = 0; i < of_row; ++i) square += static_cast<double>(to[i]) * static_cast<double>(to[i]);
        const bool is_silent = fine.norms[static_cast<std::size_t>(row)] == 0;
        all.norms[static_cast<std::size_t>(row)] = is_silent ? 0 : static_cast<float>(std::sqrt(square));
    });
    return all;
}

// Rows of a strip about `row` that are there and have a partner `y` further on; with signal in both.
class StripRows {
  public:
    StripRows(const RowFeatures& reference, const RowFeatures& moving, std::int64_t strip)
        : reference_(reference), moving_(moving), half_(strip / 2) {}

    // Empty: there is no such strip.
    std::vector<std::int64_t> of(std::int64_t row, std::int64_t y) const {
        std::vector<std::int64_t> rows;
        for (std::int64_t t = std::max<std::int64_t>(0, row - half_); t <= std::min(moving_.rows - 1, row + half_);
             ++t) {
            if (t + y < 0 || t + y >= reference_.rows) return {};
            if (moving_.norms[static_cast<std::size_t>(t)] <= 0 ||
                reference_.norms[static_cast<std::size_t>(t + y)] <= 0) {
                return {};
            }
            rows.push_back(t);
        }
        return rows;
    }

    float weight(std::int64_t row, std::int64_t y, std::size_t count) const {
        return 1 / (moving_.norms[static_cast<std::size_t>(row)] * reference_.norms[static_cast<std::size_t>(row + y)] *
                    static_cast<float>(count));
    }

  private:
    const RowFeatures& reference_;
    const RowFeatures& moving_;
    std::int64_t half_;
};

std::vector<PlaneTransform::Spectrum> spectra_of(const RowFeatures& features, std::int64_t max_z, std::int64_t max_x) {
    std::vector<PlaneTransform::Spectrum> spectra(static_cast<std::size_t>(features.rows));
    parallel_for(0, (features.rows + rows_together - 1) / rows_together, [&](std::int64_t group) {
        PlaneTransform transform(features.depth, features.a_scans, max_z, max_x);
        for (std::int64_t row = group * rows_together; row < std::min(features.rows, (group + 1) * rows_together);
             ++row) {
            spectra[static_cast<std::size_t>(row)] = transform.forward(features.row(row));
        }
    });
    return spectra;
}

void add_cross(const PlaneTransform::Spectrum& a, const PlaneTransform::Spectrum& b, float weight,
               PlaneTransform::Spectrum& sum) {
    const auto* left = reinterpret_cast<const float*>(a.data());
    const auto* right = reinterpret_cast<const float*>(b.data());
    auto* to = reinterpret_cast<float*>(sum.data());
    for (std::size_t i = 0; i < 2 * sum.size(); i += 2) {  // a conj(b)
        to[i] += weight * (left[i] * right[i] + left[i + 1] * right[i + 1]);
        to[i + 1] += weight * (left[i + 1] * right[i] - left[i] * right[i + 1]);
    }
}

// The best of each strip, largest first; smaller offsets first where they are equal.
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

// One candidate for each strip, or none where it has none.
std::vector<const Candidate*> likely_path(const std::vector<std::vector<Candidate>>& strips) {
    struct Step {
        float cost;
        std::size_t from;
    };
    const auto count = strips.size();
    std::vector<std::vector<Step>> steps(count);
    std::vector<std::size_t> before(count, count);  // the strip before that has candidates
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

// The place of a strip to a fraction of a sample: uphill from the coarse peak, then parabolas.
class FinePlace {
  public:
    FinePlace(const RowFeatures& reference, const RowFeatures& moving, const RegistrationSettings& settings)
        : reference_(reference), moving_(moving), rows_(reference, moving, settings.strip),
          max_z_(settings.axial_range), max_x_(settings.lateral_range), max_y_(settings.row_range) {}

    StripPlace of(std::int64_t row, const Candidate& coarse_one, std::int64_t first_y, std::int64_t last_y) const {
        constexpr int max_moves = 3;
        std::int64_t y = coarse_one.y;
        Place middle = uphill(row, y, {in_range(coarse_one.peak.z, max_z_), in_range(coarse_one.peak.x, max_x_), -1});
        Place below, above;
        for (int move = 0;; ++move) {
            below = y > first_y ? uphill(row, y - 1, middle) : Place{};
            above = y < last_y ? uphill(row, y + 1, middle) : Place{};
            const bool is_top = below.value <= middle.value && above.value <= middle.value;
            if (is_top || move == max_moves) break;
            y += above.value > below.value ? 1 : -1;
            middle = above.value > below.value ? above : below;
        }
        const auto [z, x, value] = middle;
        const auto beside = [&](std::int64_t dz, std::int64_t dx) { return correlation(row, y, z + dz, x + dx); };
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
        const bool inside_y = first_y == last_y || std::abs(y) < max_y_;  // a range of one is no range
        const bool is_at_end = (max_z_ > 0 && !inside_z) || (max_x_ > 0 && !inside_x) || (max_y_ > 0 && !inside_y);
        place.is_at_border = coarse_one.peak.is_at_border || is_at_end;
        return place;
    }

  private:
    struct Place {
        std::int64_t z = 0, x = 0;
        float value = -1;
    };

    // A coarse range is a little wider than the one that was asked for.
    static std::int64_t in_range(double coarse_shift, std::int64_t range) {
        return std::clamp<std::int64_t>(std::llround(coarse * coarse_shift), -range, range);
    }

    float correlation(std::int64_t row, std::int64_t y, std::int64_t z, std::int64_t x) const {
        const std::vector<std::int64_t> rows = rows_.of(row, y);
        if (rows.empty() || std::abs(z) > max_z_ || std::abs(x) > max_x_) return -1;
        float sum = 0;
        for (const std::int64_t t : rows) {
            sum += rows_.weight(t, y, rows.size()) *
                   overlap_product(reference_.row(t + y), moving_.row(t), moving_.depth, moving_.a_scans, z, x);
        }
        return sum;
    }

    // To where no neighbour along an axis is higher. The way that led on is tried first.
    Place uphill(std::int64_t row, std::int64_t y, Place at) const {
        constexpr int max_steps = 24;
        at.value = correlation(row, y, at.z, at.x);
        if (at.value <= -1) return at;
        std::array<std::array<std::int64_t, 2>, 4> ways{{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}};
        std::size_t tried = 0;
        for (int step = 0; step < max_steps && tried < ways.size();) {
            const Place next{at.z + ways[tried][0], at.x + ways[tried][1], 0};
            const float value = correlation(row, y, next.z, next.x);
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

    const RowFeatures& reference_;
    const RowFeatures& moving_;
    StripRows rows_;
    std::int64_t max_z_, max_x_, max_y_;
};

}  // namespace

std::vector<StripPlace> match_strips(const RowFeatures& reference, const RowFeatures& moving, std::int64_t first_y,
                                     std::int64_t last_y, const RegistrationSettings& settings, Progress& told) {
    const RowFeatures coarse_reference = coarser(reference), coarse_moving = coarser(moving);
    const std::int64_t max_z = (std::min(settings.axial_range, moving.depth - 1) + coarse - 1) / coarse;
    const std::int64_t max_x = (std::min(settings.lateral_range, moving.a_scans - 1) + coarse - 1) / coarse;
    const auto of_reference = spectra_of(coarse_reference, max_z, max_x),
               of_moving = spectra_of(coarse_moving, max_z, max_x);
    const StripRows strip_rows(coarse_reference, coarse_moving, settings.strip);

    std::vector<std::vector<Candidate>> strips(static_cast<std::size_t>(moving.rows));
    std::mutex mutex;
    const std::int64_t groups = (moving.rows + rows_together - 1) / rows_together;
    parallel_for(0, groups, [&](std::int64_t group) {
        PlaneTransform transform(coarse_moving.depth, coarse_moving.a_scans, max_z, max_x);
        PlaneTransform::Spectrum sum(of_moving.front().size());
        const std::int64_t end = std::min(moving.rows, (group + 1) * rows_together);
        for (std::int64_t row = group * rows_together; row < end; ++row) {
            std::vector<Candidate> all;
            for (std::int64_t y = first_y; y <= last_y; ++y) {
                const std::vector<std::int64_t> rows = strip_rows.of(row, y);
                if (rows.empty()) continue;
                std::ranges::fill(sum, std::complex<float>{});
                for (const std::int64_t t : rows) {
                    add_cross(of_reference[static_cast<std::size_t>(t + y)], of_moving[static_cast<std::size_t>(t)],
                              strip_rows.weight(t, y, rows.size()), sum);
                }
                all.push_back({y, transform.peak(sum)});
            }
            strips[static_cast<std::size_t>(row)] = best_of(std::move(all));
        }
        const std::lock_guard lock(mutex);
        told.advance(end - group * rows_together);
    });

    const std::vector<const Candidate*> path = likely_path(strips);
    const FinePlace fine(reference, moving, settings);
    std::vector<StripPlace> places(path.size());
    parallel_for(0, moving.rows, [&](std::int64_t row) {
        const Candidate* chosen = path[static_cast<std::size_t>(row)];
        if (chosen != nullptr) places[static_cast<std::size_t>(row)] = fine.of(row, *chosen, first_y, last_y);
    });
    return places;
}

}  // namespace echolux
