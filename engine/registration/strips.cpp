#include "engine/registration/strips.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>

#include "compute/parallel_for.h"
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

// Correlations of strips on the CPU: coarse ones by Fourier transforms of pairs of B-scans, summed over strips; fine
// ones by direct sums.

namespace {

constexpr std::int64_t rows_together = 16;  // rows per task

// Sums blocks of coarse_times x coarse_times samples and recomputes the norms.
RowFeatures coarser(const RowFeatures& fine) {
    constexpr std::int64_t times = coarse_times;
    RowFeatures all{.depth = (fine.depth + times - 1) / times,
                    .a_scans = (fine.a_scans + times - 1) / times,
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
            float* line = to + a / times * all.depth;
            const float* of_line = from + a * fine.depth;
            for (std::int64_t z = 0; z < fine.depth; ++z) line[z / times] += of_line[z];
        }
        double square = 0;
        for (std::int64_t i = 0; i < of_row; ++i) square += static_cast<double>(to[i]) * static_cast<double>(to[i]);
        const bool is_silent = fine.norms[static_cast<std::size_t>(row)] == 0;
        all.norms[static_cast<std::size_t>(row)] = is_silent ? 0 : static_cast<float>(std::sqrt(square));
    });
    return all;
}

// Returns the strips of a moving volume and a reference with their norms.
StripRows strips_of(const RowFeatures& reference, const RowFeatures& moving, std::int64_t half) {
    return {moving.norms.data(), reference.norms.data(), moving.rows, reference.rows, half};
}

// Transforms all B-scans of a volume.
std::vector<PlaneTransform::Spectrum> spectra_of(const RowFeatures& features, const StripRanges& ranges) {
    std::vector<PlaneTransform::Spectrum> spectra(static_cast<std::size_t>(features.rows));
    parallel_for(0, (features.rows + rows_together - 1) / rows_together, [&](std::int64_t group) {
        PlaneTransform transform(features.depth, features.a_scans, ranges.coarse_z, ranges.coarse_x);
        for (std::int64_t row = group * rows_together; row < std::min(features.rows, (group + 1) * rows_together);
             ++row) {
            spectra[static_cast<std::size_t>(row)] = transform.forward(features.row(row));
        }
    });
    return spectra;
}

// Correlations on the CPU.
class PairsOnCpu : public StripPairs {
  public:
    PairsOnCpu(const RowFeatures& reference, const RowFeatures& moving)
        : reference_(reference), moving_(moving), coarse_reference_(coarser(reference)),
          coarse_moving_(coarser(moving)) {}

    StripRows coarse_strips(std::int64_t half) const override {
        return strips_of(coarse_reference_, coarse_moving_, half);
    }

    std::vector<CoarsePeak> peaks(const StripRanges& ranges, Progress& told) override {
        const auto of_reference = spectra_of(coarse_reference_, ranges), of_moving = spectra_of(coarse_moving_, ranges);
        const StripRows rows = coarse_strips(ranges.half);
        std::vector<CoarsePeak> peaks(static_cast<std::size_t>(rows.moving_rows * ranges.offsets()));
        std::mutex mutex;
        parallel_for(0, (rows.moving_rows + rows_together - 1) / rows_together, [&](std::int64_t group) {
            const std::int64_t first = group * rows_together, end = std::min(rows.moving_rows, first + rows_together);
            const RowRun of_group{std::max<std::int64_t>(0, first - ranges.half),
                                  std::min(rows.moving_rows, end + ranges.half)};
            PlaneTransform transform(coarse_moving_.depth, coarse_moving_.a_scans, ranges.coarse_z, ranges.coarse_x);
            const ShiftMap map = transform.shift_map();
            std::vector<float> maps(static_cast<std::size_t>(of_group.count() * map.cells()));
            for (std::int64_t y = ranges.first_y; y <= ranges.last_y; ++y) {
                for (std::int64_t t = of_group.first; t < of_group.end; ++t) {
                    if (t + y < 0 || t + y >= rows.reference_rows) continue;
                    transform.correlate(of_reference[static_cast<std::size_t>(t + y)],
                                        of_moving[static_cast<std::size_t>(t)],
                                        maps.data() + (t - of_group.first) * map.cells());
                }
                for (std::int64_t row = first; row < end; ++row) {
                    const RowRun run = rows.of(row, y);
                    if (run.count() == 0) continue;
                    const StripMap strip{maps.data() + (run.first - of_group.first) * map.cells(), map.cells(), rows,
                                         run, y};
                    std::vector<float> of_strip(static_cast<std::size_t>(map.cells()));
                    for (std::int32_t cell = 0; cell < map.cells(); ++cell)
                        of_strip[static_cast<std::size_t>(cell)] = strip(cell);
                    peaks[static_cast<std::size_t>(row * ranges.offsets() + y - ranges.first_y)] =
                        peak_of(map, [&](std::int32_t cell) { return of_strip[static_cast<std::size_t>(cell)]; });
                }
            }
            const std::lock_guard lock(mutex);
            told.advance(end - first);
        });
        return peaks;
    }

    void find(std::int64_t half, const std::vector<bool>& wanted, const FindPlace& find,
              std::vector<StripPlace>& places) override {
        const StripRows rows = strips_of(reference_, moving_, half);
        const StripCorrelation correlation = [&](std::int64_t row, std::int64_t y, std::int64_t z, std::int64_t x) {
            const RowRun run = rows.of(row, y);
            float sum = run.count() > 0 ? 0.0F : -1.0F;
            for (std::int64_t t = run.first; t < run.end; ++t) {
                sum += rows.weight(t, y, run.count()) *
                       overlap_product(reference_.row(t + y), moving_.row(t), moving_.depth, moving_.a_scans, z, x);
            }
            return sum;
        };
        parallel_for(0, rows.moving_rows, [&](std::int64_t row) {
            const auto at = static_cast<std::size_t>(row);
            if (wanted[at]) places[at] = find(row, correlation);
        });
    }

  private:
    const RowFeatures& reference_;
    const RowFeatures& moving_;
    RowFeatures coarse_reference_, coarse_moving_;
};

}  // namespace

std::unique_ptr<StripPairs> pairs_on_cpu(const RowFeatures& reference, const RowFeatures& moving) {
    return std::make_unique<PairsOnCpu>(reference, moving);
}

namespace {

// Known fine correlations of one row, and those that its search still needs.
class KnownCorrelations {
  public:
    // Returns a correlation; if it is unknown, requests it and returns -1.
    float operator()(std::int64_t row, std::int64_t y, std::int64_t z, std::int64_t x) {
        constexpr std::int64_t reach = CorrelationsAsked::reach;
        const auto covers = [&](const CorrelationsAsked& one) {
            return one.y == y && std::abs(z - one.z) <= reach && std::abs(x - one.x) <= reach;
        };
        const auto known = std::ranges::find_if(asked_, covers);
        const auto at = static_cast<std::size_t>(known - asked_.begin());
        if (at < found_.size()) {
            const std::int64_t cell = (x - known->x + reach) * CorrelationsAsked::edge + z - known->z + reach;
            return found_[at][static_cast<std::size_t>(cell)];
        }
        if (known == asked_.end()) {
            asked_.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(y),
                              static_cast<std::int32_t>(z), static_cast<std::int32_t>(x)});
        }
        return -1;
    }

    std::span<const CorrelationsAsked> open() const { return std::span(asked_).subspan(found_.size()); }
    void give(const Correlations& next) { found_.push_back(next); }

  private:
    std::vector<CorrelationsAsked> asked_;
    std::vector<Correlations> found_;
};

// Correlations on a GPU, requested in batches.
class PairsOnGpu : public StripPairs {
  public:
    PairsOnGpu(RegistrationOnGpu& gpu, const FeaturesOnGpu& reference, const FeaturesOnGpu& moving)
        : gpu_(gpu), reference_(reference), moving_(moving) {}

    StripRows coarse_strips(std::int64_t half) const override {
        return strips_by(moving_.coarse_norms(), reference_.coarse_norms(), half);
    }

    std::vector<CoarsePeak> peaks(const StripRanges& ranges, Progress& told) override {
        return gpu_.peaks(reference_, moving_, ranges, [&](std::int64_t rows) { told.advance(rows); });
    }

    // All rows search with the known correlations. Missing ones are computed together, and the rows search again.
    void find(std::int64_t half, const std::vector<bool>& wanted, const FindPlace& find,
              std::vector<StripPlace>& places) override {
        const StripRows rows = strips_by(moving_.norms(), reference_.norms(), half);
        std::vector<KnownCorrelations> known(wanted.size());
        std::vector<std::size_t> open;
        for (std::size_t row = 0; row < wanted.size(); ++row) {
            if (wanted[row]) open.push_back(row);
        }
        while (!open.empty()) {
            parallel_for(0, std::ssize(open), [&](std::int64_t i) {
                const std::size_t at = open[static_cast<std::size_t>(i)];
                places[at] = find(static_cast<std::int64_t>(at),
                                  [&](std::int64_t row, std::int64_t y, std::int64_t z, std::int64_t x) {
                                      return rows.of(row, y).count() > 0 ? known[at](row, y, z, x) : -1;
                                  });
            });
            std::erase_if(open, [&](std::size_t row) { return known[row].open().empty(); });
            answer(half, open, known);
        }
    }

  private:
    // Computes the requested correlations of all open rows in one call.
    void answer(std::int64_t half, const std::vector<std::size_t>& open, std::vector<KnownCorrelations>& known) {
        std::vector<CorrelationsAsked> asked;
        for (const std::size_t row : open)
            asked.insert(asked.end(), known[row].open().begin(), known[row].open().end());
        if (asked.empty()) return;
        const std::vector<Correlations> found = gpu_.correlations(reference_, moving_, half, asked);
        for (std::size_t i = 0; i < asked.size(); ++i) known[static_cast<std::size_t>(asked[i].row)].give(found[i]);
    }

    static StripRows strips_by(const std::vector<float>& moving, const std::vector<float>& reference,
                               std::int64_t half) {
        return {moving.data(), reference.data(), std::ssize(moving), std::ssize(reference), half};
    }

    RegistrationOnGpu& gpu_;
    const FeaturesOnGpu& reference_;
    const FeaturesOnGpu& moving_;
};

}  // namespace

Interval tissue_band_on_gpu(RegistrationOnGpu& gpu, const PowerOnGpu& volume, std::int64_t margin) {
    const VolumeGrid& grid = volume.grid;
    const Samples samples = lines_of_band(grid);
    return band_of_lines(gpu.runs(volume.power, samples.count, grid.depth, samples.step * grid.depth), grid.depth,
                         margin);
}

std::shared_ptr<FeaturesOnGpu> features_on_gpu(RegistrationOnGpu& gpu, const PowerOnGpu& volume, Interval band) {
    const VolumeGrid& grid = volume.grid;
    const Samples samples = samples_of(grid.depth * grid.a_scans * grid.b_scans);
    const FeatureTables tables{.size = {grid.depth, grid.a_scans, grid.b_scans},
                               .first_depth = band.begin,
                               .depths = band.end - band.begin,
                               .smoothing = smoothing_weights(),
                               .slow_half = slow_mean_half(),
                               .slow_times = slow_means,
                               .coarse = coarse_times,
                               .feature = log_feature(gpu.runs(volume.power, samples.count, 1, samples.step))};
    auto features = gpu.features(volume.power, tables);
    std::vector<float> norms = features->norms(), coarse_norms = features->coarse_norms();
    silence(norms);
    for (std::size_t row = 0; row < norms.size(); ++row) {
        if (norms[row] == 0) coarse_norms[row] = 0;
    }
    features->set_norms(std::move(norms), std::move(coarse_norms));
    return features;
}

std::unique_ptr<StripPairs> pairs_on_gpu(RegistrationOnGpu& gpu, const FeaturesOnGpu& reference,
                                         const FeaturesOnGpu& moving) {
    return std::make_unique<PairsOnGpu>(gpu, reference, moving);
}

// Judges the positions found for B-scans: which are valid, why others are not, and where the eye jumped.

namespace {

// peak to second peak
constexpr double min_ratio = 1.1;
constexpr double jump = 1.5;  // samples across a gap that indicate a saccade

using Axis = double RowShift::*;
constexpr std::array<Axis, 3> axes{&RowShift::z, &RowShift::x, &RowShift::y};

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// Returns whether a row has a position, even if it is at the end of the search range.
bool has_place(const RowShift& row) {
    return row.is_valid() || row.reason == RowReason::out_of_range;
}

// Returns whether a row deviates from the median of its neighbours by more than `max_apart` samples.
bool is_far(const std::vector<RowShift>& rows, std::int64_t at, double max_apart) {
    for (const Axis axis : axes) {
        std::vector<double> around;
        for (std::int64_t j = std::max<std::int64_t>(0, at - 3); j <= std::min(std::ssize(rows) - 1, at + 3); ++j) {
            if (has_place(rows[static_cast<std::size_t>(j)])) around.push_back(rows[static_cast<std::size_t>(j)].*axis);
        }
        if (std::abs(rows[static_cast<std::size_t>(at)].*axis - median(around)) > max_apart) return true;
    }
    return false;
}

// Rejects rows at the end of the reference that follow rows found only at the end of the range. They match there
// because the rest of the reference is missing; their true position is beyond it.
void reject_behind_range(std::vector<RowShift>& rows, const std::vector<StripPlace>& places) {
    for (const std::int64_t side : {1, -1}) {
        const std::int64_t count = std::ssize(rows);
        bool is_beyond = false;  // state of the last row that was found
        for (std::int64_t step = 0; step < count; ++step) {
            const auto j = static_cast<std::size_t>(side > 0 ? step : count - 1 - step);
            const bool is_lost = is_beyond && rows[j].is_valid() && places[j].past == side;
            if (is_lost) rows[j].reason = RowReason::no_overlap;
            if (has_place(rows[j])) is_beyond = !rows[j].is_valid();
        }
    }
}

// Interpolates rejected rows between valid ones, and extends the nearest position to the ends. Requires one valid row.
void fill_gaps(std::vector<RowShift>& rows) {
    std::int64_t last = -1;
    for (std::int64_t j = 0; j <= std::ssize(rows); ++j) {
        const bool is_end = j == std::ssize(rows);
        if (!is_end && !rows[static_cast<std::size_t>(j)].is_valid()) continue;
        for (std::int64_t gap = last + 1; gap < j; ++gap) {
            RowShift& row = rows[static_cast<std::size_t>(gap)];
            const RowShift& left = rows[static_cast<std::size_t>(last < 0 ? j : last)];
            const RowShift& right = rows[static_cast<std::size_t>(is_end ? last : j)];
            const double part =
                last < 0 || is_end ? 0 : static_cast<double>(gap - last) / static_cast<double>(j - last);
            for (const Axis axis : axes) row.*axis = left.*axis + part * (right.*axis - left.*axis);
        }
        last = j;
    }
}

// Marks rows that move faster than `speed` samples per B-scan, and rejected runs between two distant positions.
void mark_saccades(std::vector<RowShift>& rows, double speed) {
    const std::int64_t count = std::ssize(rows);
    std::vector<bool> fast(rows.size());
    for (std::int64_t j = 0; j < count; ++j) {
        const RowShift& before = rows[static_cast<std::size_t>(std::max<std::int64_t>(0, j - 1))];
        const RowShift& after = rows[static_cast<std::size_t>(std::min(count - 1, j + 1))];
        const auto apart = static_cast<double>(std::min(count - 1, j + 1) - std::max<std::int64_t>(0, j - 1));
        fast[static_cast<std::size_t>(j)] =
            std::abs(after.x - before.x) > speed * apart || std::abs(after.y - before.y) > speed * apart;
    }
    for (std::int64_t begin = 0; begin < count; ++begin) {  // runs of rejected rows with valid rows on both sides
        if (rows[static_cast<std::size_t>(begin)].is_valid()) continue;
        std::int64_t end = begin;
        while (end < count && !rows[static_cast<std::size_t>(end)].is_valid()) ++end;
        if (begin > 0 && end < count) {
            const RowShift &left = rows[static_cast<std::size_t>(begin - 1)],
                           &right = rows[static_cast<std::size_t>(end)];
            const bool jumps = std::abs(right.x - left.x) > jump || std::abs(right.y - left.y) > jump;
            for (std::int64_t j = begin; j < end && jumps; ++j) fast[static_cast<std::size_t>(j)] = true;
        }
        begin = end;
    }
    for (std::size_t j = 0; j < rows.size(); ++j) {
        rows[j].is_saccade = fast[j];
        const bool is_open = rows[j].reason == RowReason::weak_match || rows[j].reason == RowReason::ambiguous;
        if (fast[j] && is_open) rows[j].reason = RowReason::saccade;
    }
}

}  // namespace

// Converts strip positions to row shifts and sets their reasons. `chance` is the correlation that noise reaches.
std::vector<RowShift> judged(const std::vector<StripPlace>& places, const std::vector<float>& norms, std::int64_t rows,
                             double chance, double max_apart, const RegistrationSettings& settings) {
    std::vector<double> qualities;
    for (const StripPlace& place : places) {
        if (place.quality > chance) qualities.push_back(place.quality);
    }
    const double least = std::max(chance, settings.min_quality * median(qualities));
    std::vector<RowShift> shifts;
    for (std::size_t j = 0; j < places.size(); ++j) {
        const StripPlace& place = places[j];
        RowShift shift{.z = place.z, .x = place.x, .y = place.y, .quality = std::max(0.0, place.quality)};
        if (norms[j] <= 0) {
            shift.reason = RowReason::no_signal;
        } else if (place.quality <= -1) {
            shift.reason = RowReason::no_overlap;
        } else if (place.quality < least) {
            shift.reason = RowReason::weak_match;
        } else if (place.is_at_border) {
            shift.reason = RowReason::out_of_range;
        } else if (place.ratio < min_ratio) {
            shift.reason = RowReason::ambiguous;
        }
        shifts.push_back(shift);
    }
    std::vector<bool> far(shifts.size());
    for (std::int64_t j = 0; j < std::ssize(shifts); ++j) {
        far[static_cast<std::size_t>(j)] =
            shifts[static_cast<std::size_t>(j)].is_valid() && is_far(shifts, j, max_apart);
    }
    for (std::size_t j = 0; j < shifts.size(); ++j) {
        if (far[j]) shifts[j].reason = RowReason::ambiguous;
    }
    reject_behind_range(shifts, places);
    if (std::ranges::none_of(shifts, &RowShift::is_valid)) return shifts;  // matches of noise are meaningless
    fill_gaps(shifts);
    for (std::size_t j = 0; j < shifts.size(); ++j) {
        const double row = static_cast<double>(j) + shifts[j].y;
        const bool is_outside = row < 1 || row > static_cast<double>(rows) - 2;
        if (shifts[j].reason == RowReason::weak_match && is_outside && rows > 1)
            shifts[j].reason = RowReason::no_overlap;
    }
    mark_saccades(shifts, settings.saccade_speed);
    return shifts;
}

}  // namespace echolux
