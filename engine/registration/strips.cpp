#include "engine/registration/strips.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/steps/registration.h"

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
    auto at = index(std::ranges::min_element(steps[last], {}, &Step::cost) - steps[last].begin());
    for (std::size_t j = last; j != count; j = before[j]) {
        path[j] = &strips[j][at];
        at = steps[j][at].from;
    }
    return path;
}

// Refines the position of a strip to a fraction of a sample: climbs from the coarse peak, then fits parabolas.
class StripRefiner {
  public:
    StripRefiner(const RegistrationSettings& settings, const StripCorrelation& correlation, std::int64_t row)
        : correlation_(correlation), row_(row), max_z_(settings.axial_range), max_x_(settings.lateral_range),
          max_y_(settings.row_range) {}

    StripPosition from(const Candidate& coarse_one, std::int64_t first_y, std::int64_t last_y) const {
        constexpr int max_moves = 3;
        std::int64_t y = coarse_one.y;
        GridPeak middle = uphill(y, {in_range(coarse_one.peak.z, max_z_), in_range(coarse_one.peak.x, max_x_), -1});
        GridPeak below, above;
        for (int move = 0;; ++move) {
            below = y > first_y ? uphill(y - 1, middle) : GridPeak{};
            above = y < last_y ? uphill(y + 1, middle) : GridPeak{};
            const bool is_top = below.value <= middle.value && above.value <= middle.value;
            if (is_top || move == max_moves) break;
            y += above.value > below.value ? 1 : -1;
            middle = above.value > below.value ? above : below;
        }
        const auto [z, x, value] = middle;
        const auto beside = [&](std::int64_t dz, std::int64_t dx) { return correlation(y, z + dz, x + dx); };
        StripPosition place;
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
    struct GridPeak {
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
    GridPeak uphill(std::int64_t y, GridPeak at) const {
        constexpr int max_steps = 24;
        at.value = correlation(y, at.z, at.x);
        if (at.value <= -1) return at;
        std::array<std::array<std::int64_t, 2>, 4> ways{{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}};
        std::size_t tried = 0;
        for (int step = 0; step < max_steps && tried < ways.size();) {
            const GridPeak next{at.z + ways[tried][0], at.x + ways[tried][1], 0};
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

std::vector<StripPosition> match_strips(StripPairs& pairs, std::int64_t depth, std::int64_t a_scans,
                                        std::int64_t first_y, std::int64_t last_y, const RegistrationSettings& settings,
                                        Progress& progress) {
    const std::int64_t half = settings.strip / 2;
    const StripRanges ranges{half, first_y, last_y, coarse_shift(settings.axial_range, depth),
                             coarse_shift(settings.lateral_range, a_scans)};
    const std::vector<CoarsePeak> peaks = pairs.peaks(ranges, progress);
    const StripRows rows = pairs.coarse_strips(half);
    std::vector<std::vector<Candidate>> strips(index(rows.moving_rows));
    for (std::int64_t row = 0; row < rows.moving_rows; ++row) {
        std::vector<Candidate> all;
        for (std::int64_t y = first_y; y <= last_y; ++y) {
            if (rows.of(row, y).count() == 0) continue;
            all.push_back({y, peaks[index(row * ranges.offsets() + y - first_y)]});
        }
        strips[index(row)] = best_of(std::move(all));
    }
    const std::vector<const Candidate*> path = likely_path(strips);
    std::vector<bool> wanted;
    for (const Candidate* candidate : path) wanted.push_back(candidate != nullptr);
    std::vector<StripPosition> places(path.size());
    const StripSearch find = [&](std::int64_t row, const StripCorrelation& correlation) {
        return StripRefiner(settings, correlation, row).from(*path[index(row)], first_y, last_y);
    };
    pairs.find(half, wanted, find, places);
    return places;
}

// ---- Correlations of strips on the CPU: coarse ones by Fourier transforms of pairs of B-scans, summed over strips;
// fine ones by direct sums.

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
    all.values.assign(index(of_row * all.rows), 0.0F);
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
        const bool is_silent = fine.norms[index(row)] == 0;
        all.norms[index(row)] = is_silent ? 0 : static_cast<float>(std::sqrt(square));
    });
    return all;
}

// Returns the strips of a moving volume and a reference with their norms.
StripRows strips_of(const RowFeatures& reference, const RowFeatures& moving, std::int64_t half) {
    return {moving.norms.data(), reference.norms.data(), moving.rows, reference.rows, half};
}

// Transforms all B-scans of a volume.
std::vector<PlaneTransform::Spectrum> spectra_of(const RowFeatures& features, const StripRanges& ranges) {
    std::vector<PlaneTransform::Spectrum> spectra(index(features.rows));
    parallel_for(0, (features.rows + rows_together - 1) / rows_together, [&](std::int64_t group) {
        PlaneTransform transform(features.depth, features.a_scans, ranges.coarse_z, ranges.coarse_x);
        for (std::int64_t row = group * rows_together; row < std::min(features.rows, (group + 1) * rows_together);
             ++row) {
            spectra[index(row)] = transform.forward(features.row(row));
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

    std::vector<CoarsePeak> peaks(const StripRanges& ranges, Progress& progress) override {
        const auto of_reference = spectra_of(coarse_reference_, ranges), of_moving = spectra_of(coarse_moving_, ranges);
        const StripRows rows = coarse_strips(ranges.half);
        std::vector<CoarsePeak> peaks(index(rows.moving_rows * ranges.offsets()));
        std::mutex mutex;
        parallel_for(0, (rows.moving_rows + rows_together - 1) / rows_together, [&](std::int64_t group) {
            const std::int64_t first = group * rows_together, end = std::min(rows.moving_rows, first + rows_together);
            const RowRun of_group{std::max<std::int64_t>(0, first - ranges.half),
                                  std::min(rows.moving_rows, end + ranges.half)};
            PlaneTransform transform(coarse_moving_.depth, coarse_moving_.a_scans, ranges.coarse_z, ranges.coarse_x);
            const ShiftMap map = transform.shift_map();
            std::vector<float> maps(index(of_group.count() * map.cells()));
            for (std::int64_t y = ranges.first_y; y <= ranges.last_y; ++y) {
                for (std::int64_t t = of_group.first; t < of_group.end; ++t) {
                    if (t + y < 0 || t + y >= rows.reference_rows) continue;
                    transform.correlate(of_reference[index(t + y)], of_moving[index(t)],
                                        maps.data() + (t - of_group.first) * map.cells());
                }
                for (std::int64_t row = first; row < end; ++row) {
                    const RowRun run = rows.of(row, y);
                    if (run.count() == 0) continue;
                    const StripMap strip{maps.data() + (run.first - of_group.first) * map.cells(), map.cells(), rows,
                                         run, y};
                    std::vector<float> of_strip(index(map.cells()));
                    for (std::int32_t cell = 0; cell < map.cells(); ++cell) of_strip[index(cell)] = strip(cell);
                    peaks[index(row * ranges.offsets() + y - ranges.first_y)] =
                        peak_of(map, [&](std::int32_t cell) { return of_strip[index(cell)]; });
                }
            }
            const std::lock_guard lock(mutex);
            progress.advance(end - first);
        });
        return peaks;
    }

    void find(std::int64_t half, const std::vector<bool>& wanted, const StripSearch& find,
              std::vector<StripPosition>& places) override {
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
            const auto at = index(row);
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
        constexpr std::int64_t reach = CorrelationRequest::reach;
        const auto covers = [&](const CorrelationRequest& one) {
            return one.y == y && std::abs(z - one.z) <= reach && std::abs(x - one.x) <= reach;
        };
        const auto known = std::ranges::find_if(asked_, covers);
        const auto at = index(known - asked_.begin());
        if (at < found_.size()) {
            const std::int64_t cell = (x - known->x + reach) * CorrelationRequest::edge + z - known->z + reach;
            return found_[at][index(cell)];
        }
        if (known == asked_.end()) {
            asked_.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(y),
                              static_cast<std::int32_t>(z), static_cast<std::int32_t>(x)});
        }
        return -1;
    }

    std::span<const CorrelationRequest> open() const { return std::span(asked_).subspan(found_.size()); }
    void add(const Correlations& next) { found_.push_back(next); }

  private:
    std::vector<CorrelationRequest> asked_;
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

    std::vector<CoarsePeak> peaks(const StripRanges& ranges, Progress& progress) override {
        return gpu_.peaks(reference_, moving_, ranges, [&](std::int64_t rows) { progress.advance(rows); });
    }

    // All rows search with the known correlations. Missing ones are computed together, and the rows search again.
    void find(std::int64_t half, const std::vector<bool>& wanted, const StripSearch& find,
              std::vector<StripPosition>& places) override {
        const StripRows rows = strips_by(moving_.norms(), reference_.norms(), half);
        std::vector<KnownCorrelations> known(wanted.size());
        std::vector<std::size_t> open;
        for (std::size_t row = 0; row < wanted.size(); ++row) {
            if (wanted[row]) open.push_back(row);
        }
        while (!open.empty()) {
            parallel_for(0, std::ssize(open), [&](std::int64_t i) {
                const std::size_t at = open[index(i)];
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
        std::vector<CorrelationRequest> asked;
        for (const std::size_t row : open)
            asked.insert(asked.end(), known[row].open().begin(), known[row].open().end());
        if (asked.empty()) return;
        const std::vector<Correlations> found = gpu_.correlations(reference_, moving_, half, asked);
        for (std::size_t i = 0; i < asked.size(); ++i) known[index(asked[i].row)].add(found[i]);
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

// ---- Judges the positions found for B-scans: which are valid, why others are not, and where the eye jumped.

// peak to second peak
constexpr double min_ratio = 1.1;
constexpr double jump = 1.5;  // samples across a gap that indicate a saccade

using Axis = double RowShift::*;
constexpr std::array<Axis, 3> axes{&RowShift::z, &RowShift::x, &RowShift::y};

static double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// Returns whether a row has a position, even if it is at the end of the search range.
static bool has_place(const RowShift& row) {
    return row.is_valid() || row.reason == RowReason::out_of_range;
}

// Returns whether a row deviates from the median of its neighbours by more than `max_apart` samples.
static bool is_far(const std::vector<RowShift>& rows, std::int64_t at, double max_apart) {
    for (const Axis axis : axes) {
        std::vector<double> around;
        for (std::int64_t j = std::max<std::int64_t>(0, at - 3); j <= std::min(std::ssize(rows) - 1, at + 3); ++j) {
            if (has_place(rows[index(j)])) around.push_back(rows[index(j)].*axis);
        }
        if (std::abs(rows[index(at)].*axis - median(around)) > max_apart) return true;
    }
    return false;
}

// Rejects rows at the end of the reference that follow rows found only at the end of the range. They match there
// because the rest of the reference is missing; their true position is beyond it.
static void reject_behind_range(std::vector<RowShift>& rows, const std::vector<StripPosition>& places) {
    for (const std::int64_t side : {1, -1}) {
        const std::int64_t count = std::ssize(rows);
        bool is_beyond = false;  // state of the last row that was found
        for (std::int64_t step = 0; step < count; ++step) {
            const auto j = index(side > 0 ? step : count - 1 - step);
            const bool is_lost = is_beyond && rows[j].is_valid() && places[j].past == side;
            if (is_lost) rows[j].reason = RowReason::no_overlap;
            if (has_place(rows[j])) is_beyond = !rows[j].is_valid();
        }
    }
}

// Interpolates rejected rows between valid ones, and extends the nearest position to the ends. Requires one valid row.
static void fill_gaps(std::vector<RowShift>& rows) {
    std::int64_t last = -1;
    for (std::int64_t j = 0; j <= std::ssize(rows); ++j) {
        const bool is_end = j == std::ssize(rows);
        if (!is_end && !rows[index(j)].is_valid()) continue;
        for (std::int64_t gap = last + 1; gap < j; ++gap) {
            RowShift& row = rows[index(gap)];
            const RowShift& left = rows[index(last < 0 ? j : last)];
            const RowShift& right = rows[index(is_end ? last : j)];
            const double part =
                last < 0 || is_end ? 0 : static_cast<double>(gap - last) / static_cast<double>(j - last);
            for (const Axis axis : axes) row.*axis = left.*axis + part * (right.*axis - left.*axis);
        }
        last = j;
    }
}

// Marks rows that move faster than `speed` samples per B-scan, and rejected runs between two distant positions.
static void mark_saccades(std::vector<RowShift>& rows, double speed) {
    const std::int64_t count = std::ssize(rows);
    std::vector<bool> fast(rows.size());
    for (std::int64_t j = 0; j < count; ++j) {
        const RowShift& before = rows[index(std::max<std::int64_t>(0, j - 1))];
        const RowShift& after = rows[index(std::min(count - 1, j + 1))];
        const auto apart = static_cast<double>(std::min(count - 1, j + 1) - std::max<std::int64_t>(0, j - 1));
        fast[index(j)] = std::abs(after.x - before.x) > speed * apart || std::abs(after.y - before.y) > speed * apart;
    }
    for (std::int64_t begin = 0; begin < count; ++begin) {  // runs of rejected rows with valid rows on both sides
        if (rows[index(begin)].is_valid()) continue;
        std::int64_t end = begin;
        while (end < count && !rows[index(end)].is_valid()) ++end;
        if (begin > 0 && end < count) {
            const RowShift &left = rows[index(begin - 1)], &right = rows[index(end)];
            const bool jumps = std::abs(right.x - left.x) > jump || std::abs(right.y - left.y) > jump;
            for (std::int64_t j = begin; j < end && jumps; ++j) fast[index(j)] = true;
        }
        begin = end;
    }
    for (std::size_t j = 0; j < rows.size(); ++j) {
        rows[j].is_saccade = fast[j];
        const bool is_open = rows[j].reason == RowReason::weak_match || rows[j].reason == RowReason::ambiguous;
        if (fast[j] && is_open) rows[j].reason = RowReason::saccade;
    }
}

// Converts strip positions to row shifts and sets their reasons. `chance` is the correlation that noise reaches.
std::vector<RowShift> judged(const std::vector<StripPosition>& places, const std::vector<float>& norms,
                             std::int64_t rows, double chance, double max_apart, const RegistrationSettings& settings) {
    std::vector<double> qualities;
    for (const StripPosition& place : places) {
        if (place.quality > chance) qualities.push_back(place.quality);
    }
    const double least = std::max(chance, settings.min_quality * median(qualities));
    std::vector<RowShift> shifts;
    for (std::size_t j = 0; j < places.size(); ++j) {
        const StripPosition& place = places[j];
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
        far[index(j)] = shifts[index(j)].is_valid() && is_far(shifts, j, max_apart);
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

// ---- Features to compare B-scans by: the logarithm of the smoothed power, high-pass filtered, in the tissue's band of
// depths.

// Returns the next even length that is a product of 2, 3 and 5.
static std::int64_t good_length(std::int64_t at_least) {
    for (std::int64_t length = std::max<std::int64_t>(2, at_least);; ++length) {
        std::int64_t rest = length;
        for (const std::int64_t prime : {2, 3, 5}) {
            while (rest % prime == 0) rest /= prime;
        }
        if (rest == 1 && length % 2 == 0) return length;
    }
}

// 32 partial sums in four vectors; the compiler maps them to SIMD registers.
using Eight [[gnu::vector_size(32)]] = float;

PlaneTransform::PlaneTransform(std::int64_t depth, std::int64_t a_scans, std::int64_t max_z, std::int64_t max_x)
    : depth_(depth), a_scans_(a_scans), max_z_(max_z), max_x_(max_x), long_z_(good_length(depth + max_z + 1)),
      long_x_(good_length(a_scans + max_x + 1)), bins_z_(long_z_ / 2 + 1), z_forward_(FftKind::real_forward, long_z_),
      z_inverse_(FftKind::real_inverse, long_z_), x_forward_(FftKind::complex_forward, long_x_),
      x_inverse_(FftKind::complex_inverse, long_x_), columns_(index(std::max(a_scans, 2 * max_x + 1) * bins_z_)) {}

PlaneTransform::Spectrum PlaneTransform::forward(const float* plane) {
    for (std::int64_t a = 0; a < a_scans_; ++a) {
        std::copy_n(plane + a * depth_, depth_, z_forward_.real());
        std::fill_n(z_forward_.real() + depth_, long_z_ - depth_, 0.0F);
        z_forward_.execute();
        std::copy_n(z_forward_.complex_out(), bins_z_, columns_.data() + a * bins_z_);
    }
    Spectrum spectrum(index(bins_z_ * long_x_));
    for (std::int64_t z = 0; z < bins_z_; ++z) {
        std::complex<float>* in = x_forward_.complex_in();
        for (std::int64_t a = 0; a < a_scans_; ++a) in[a] = columns_[index(a * bins_z_ + z)];
        std::fill_n(in + a_scans_, long_x_ - a_scans_, std::complex<float>{});
        x_forward_.execute();
        std::copy_n(x_forward_.complex_out(), long_x_, spectrum.data() + z * long_x_);
    }
    return spectrum;
}

void PlaneTransform::correlate(const Spectrum& a, const Spectrum& b, float* map) {
    cross_.resize(a.size());
    const auto* left = reinterpret_cast<const float*>(a.data());
    const auto* right = reinterpret_cast<const float*>(b.data());
    auto* cross = reinterpret_cast<float*>(cross_.data());
    for (std::size_t i = 0; i < 2 * a.size(); i += 2) {  // a conj(b)
        cross[i] = left[i] * right[i] + left[i + 1] * right[i + 1];
        cross[i + 1] = left[i + 1] * right[i] - left[i] * right[i + 1];
    }
    for (std::int64_t z = 0; z < bins_z_; ++z) {
        std::copy_n(cross_.data() + z * long_x_, long_x_, x_inverse_.complex_in());
        x_inverse_.execute();
        const std::complex<float>* out = x_inverse_.complex_out();
        for (std::int64_t x = -max_x_; x <= max_x_; ++x) {
            columns_[index((x + max_x_) * bins_z_ + z)] = out[x < 0 ? x + long_x_ : x];
        }
    }
    const float share = 1 / static_cast<float>(long_z_ * long_x_);
    for (std::int64_t x = 0; x <= 2 * max_x_; ++x) {
        std::copy_n(columns_.data() + x * bins_z_, bins_z_, z_inverse_.complex_in());
        z_inverse_.execute();
        for (std::int64_t z = -max_z_; z <= max_z_; ++z) *map++ = share * z_inverse_.real()[z < 0 ? z + long_z_ : z];
    }
}

float overlap_product(const float* a, const float* b, std::int64_t depth, std::int64_t a_scans, std::int64_t shift_z,
                      std::int64_t shift_x) {
    const std::int64_t begin_x = std::max<std::int64_t>(0, -shift_x), end_x = std::min(a_scans, a_scans - shift_x);
    const std::int64_t begin_z = std::max<std::int64_t>(0, -shift_z), end_z = std::min(depth, depth - shift_z);
    Eight sums[4] = {};
    float rest = 0;
    for (std::int64_t x = begin_x; x < end_x; ++x) {
        const float* of_a = a + (x + shift_x) * depth + shift_z;
        const float* of_b = b + x * depth;
        std::int64_t z = begin_z;
        for (; z + 32 <= end_z; z += 32) {
            for (int part = 0; part < 4; ++part) {
                Eight left, right;
                std::memcpy(&left, of_a + z + 8 * part, sizeof(left));
                std::memcpy(&right, of_b + z + 8 * part, sizeof(right));
                sums[part] += left * right;
            }
        }
        for (; z < end_z; ++z) rest += of_a[z] * of_b[z];
    }
    const Eight all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (int lane = 0; lane < 8; ++lane) rest += all[lane];
    return rest;
}

namespace {

constexpr double smoothing = 1, high_pass = 8;  // sigma, in samples
constexpr std::int64_t smoothing_reach = 3;
constexpr double floor_part = 0.02;  // relative to the 99th percentile
constexpr double band_part = 0.02;   // relative to the mean power of the brightest depth
constexpr float silent_part = 0.1F;  // relative to the median norm; weaker B-scans have no signal

// Work space to blur one B-scan, [a_scan][depth], along both axes. End values extend beyond the ends.
class Plane {
  public:
    Plane(std::int64_t depth, std::int64_t a_scans)
        : depth_(depth), a_scans_(a_scans), other_(index(depth * a_scans)), sums_(index(depth)) {}

    // Convolves with a Gaussian truncated at three samples.
    void smooth(std::vector<float>& plane) {
        static const std::vector<float> weights = smoothing_weights();
        along_depth(plane, weights);
        along_a_scans(plane, weights);
    }

    // Approximates a wider Gaussian by three running means.
    void blur(std::vector<float>& plane) {
        const std::int64_t half = slow_mean_half();
        for (int pass = 0; pass < slow_means; ++pass) {
            mean_along_depth(plane, half);
            mean_along_a_scans(plane, half);
        }
    }

  private:
    float* line(std::vector<float>& plane, std::int64_t a) const {
        return plane.data() + std::clamp<std::int64_t>(a, 0, a_scans_ - 1) * depth_;
    }

    // Returns a copy of the line, extended by `reach` end values on either side.
    const float* padded(const float* from, std::int64_t reach, std::size_t number) {
        std::vector<float>& to = padded_[number];
        to.resize(index(depth_ + 2 * reach));
        std::fill_n(to.begin(), reach, from[0]);
        std::copy_n(from, depth_, to.begin() + reach);
        std::fill(to.begin() + reach + depth_, to.end(), from[depth_ - 1]);
        return to.data() + reach;
    }

    void along_depth(std::vector<float>& plane, const std::vector<float>& weights) {
        for (std::int64_t a = 0; a < a_scans_; ++a) {
            const float* from = padded(line(plane, a), smoothing_reach, 0) - smoothing_reach;
            float* to = line(other_, a);
            std::fill_n(to, depth_, 0.0F);
            for (std::int64_t i = 0; i <= 2 * smoothing_reach; ++i) {
                const float weight = weights[index(i)];
                for (std::int64_t z = 0; z < depth_; ++z) to[z] += weight * from[z + i];
            }
        }
        plane.swap(other_);
    }

    void along_a_scans(std::vector<float>& plane, const std::vector<float>& weights) {
        for (std::int64_t a = 0; a < a_scans_; ++a) {
            float* to = line(other_, a);
            std::fill_n(to, depth_, 0.0F);
            for (std::int64_t i = 0; i <= 2 * smoothing_reach; ++i) {
                const float* from = line(plane, a + i - smoothing_reach);
                const float weight = weights[index(i)];
                for (std::int64_t z = 0; z < depth_; ++z) to[z] += weight * from[z];
            }
        }
        plane.swap(other_);
    }

    // Processes four lines at a time, because each sum depends on the previous one.
    void mean_along_depth(std::vector<float>& plane, std::int64_t half) {
        constexpr std::size_t together = 4;
        const double share = 1 / static_cast<double>(2 * half + 1);
        for (std::int64_t first = 0; first < a_scans_; first += together) {
            std::array<const float*, together> from{};
            std::array<float*, together> to{};
            std::array<double, together> sums{};
            for (std::size_t i = 0; i < together; ++i) {  // past the end, repeat the last line
                to[i] = line(plane, first + static_cast<std::int64_t>(i));
                from[i] = padded(to[i], half + 1, i);
                for (std::int64_t z = -half; z <= half; ++z) sums[i] += static_cast<double>(from[i][z]);
            }
            for (std::int64_t z = 0; z < depth_; ++z) {
                for (std::size_t i = 0; i < together; ++i) {
                    to[i][z] = static_cast<float>(sums[i] * share);
                    sums[i] += static_cast<double>(from[i][z + half + 1]) - static_cast<double>(from[i][z - half]);
                }
            }
        }
    }

    void mean_along_a_scans(std::vector<float>& plane, std::int64_t half) {
        const double share = 1 / static_cast<double>(2 * half + 1);
        std::ranges::fill(sums_, 0.0);
        double* sum = sums_.data();
        for (std::int64_t a = -half; a <= half; ++a) {
            const float* from = line(plane, a);
            for (std::int64_t z = 0; z < depth_; ++z) sum[z] += static_cast<double>(from[z]);
        }
        for (std::int64_t a = 0; a < a_scans_; ++a) {
            float* to = line(other_, a);
            const float *next = line(plane, a + half + 1), *last = line(plane, a - half);
            for (std::int64_t z = 0; z < depth_; ++z) {
                to[z] = static_cast<float>(sum[z] * share);
                sum[z] += static_cast<double>(next[z]) - static_cast<double>(last[z]);
            }
        }
        plane.swap(other_);
    }

    std::int64_t depth_, a_scans_;
    std::vector<float> other_;
    std::array<std::vector<float>, 4> padded_;
    std::vector<double> sums_;
};

// Returns the 99th percentile of the finite values, 0 without any.
float percentile_99(std::vector<float> some) {
    std::erase_if(some, [](float value) { return !std::isfinite(value); });
    if (some.empty()) return 0;
    const auto at = some.begin() + static_cast<std::ptrdiff_t>(some.size() * 99 / 100);
    std::nth_element(some.begin(), at, some.end());
    return *at;
}

// Returns 1 for finite samples and 0 for others, which become 0 in `values`. Empty if all samples are finite.
std::vector<float> known_of(std::vector<float>& values) {
    if (std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) return {};
    std::vector<float> known(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        known[i] = std::isfinite(values[i]) ? 1.0F : 0.0F;
        if (known[i] == 0) values[i] = 0;
    }
    return known;
}

// Normalizes means to the known samples, so that the border of unknown samples is not an edge. `shares` is the known
// share of each mean.
void divide(std::vector<float>& means, const std::vector<float>& shares, const std::vector<float>& known) {
    for (std::size_t i = 0; i < known.size(); ++i) means[i] = known[i] > 0 ? means[i] / shares[i] : 0;
}

// Buffers to compute rows one after the other.
struct RowWork {
    RowWork(std::int64_t depth, std::int64_t a_scans) : plane(depth, a_scans), values(index(depth * a_scans)) {}

    Plane plane;
    std::vector<float> values, slow;
};

// Computes the features of one B-scan in `row` and returns their norm.
float fill_row(const float* power, const VolumeGrid& grid, Interval band, const LogFeature& feature, RowWork& work,
               float* row) {
    const std::int64_t depth = band.end - band.begin;
    const auto count = index(depth * grid.a_scans);
    auto& [plane, values, slow] = work;
    for (std::int64_t a = 0; a < grid.a_scans; ++a) {
        for (std::int64_t z = 0; z < depth; ++z) {
            values[index(a * depth + z)] = power[a * grid.depth + band.begin + z];
        }
    }
    const std::vector<float> known = known_of(values);
    std::vector<float> shares = known;
    plane.smooth(values);
    if (!known.empty()) plane.smooth(shares);
    divide(values, shares, known);
    for (float& value : values) value = feature(value);
    for (std::size_t i = 0; i < known.size(); ++i) values[i] *= known[i];
    slow = values;
    plane.blur(slow);
    shares = known;
    if (!known.empty()) plane.blur(shares);
    divide(slow, shares, known);
    double sum = 0, square = 0, samples = known.empty() ? static_cast<double>(count) : 0;
    for (std::size_t i = 0; i < count; ++i) {
        values[i] -= slow[i];
        sum += static_cast<double>(values[i]);
        if (!known.empty()) samples += static_cast<double>(known[i]);
    }
    const auto mean = static_cast<float>(sum / std::max(1.0, samples));
    for (std::size_t i = 0; i < count; ++i) {
        row[i] = (values[i] - mean) * (known.empty() ? 1.0F : known[i]);
        square += static_cast<double>(row[i]) * static_cast<double>(row[i]);
    }
    return static_cast<float>(std::sqrt(square));
}

}  // namespace

std::vector<float> smoothing_weights() {
    std::vector<float> weights;
    float sum = 0;
    for (std::int64_t i = -smoothing_reach; i <= smoothing_reach; ++i) {
        weights.push_back(static_cast<float>(std::exp(-static_cast<double>(i * i) / (2 * smoothing * smoothing))));
        sum += weights.back();
    }
    for (float& weight : weights) weight /= sum;
    return weights;
}

std::int64_t slow_mean_half() {
    return std::lround((std::sqrt(4 * high_pass * high_pass + 1) - 1) / 2);
}

Samples samples_of(std::int64_t voxels) {
    constexpr std::int64_t most = 100'000;
    const std::int64_t step = std::max<std::int64_t>(1, voxels / most);
    return {(voxels + step - 1) / step, step};
}

LogFeature log_feature(std::vector<float> samples) {
    const float bright = percentile_99(std::move(samples));
    if (!(bright > 0)) {
        throw Error(ErrorCode::bad_setting, "is empty: no sample is above zero", "registration",
                    "choose another volume");
    }
    return {static_cast<float>(floor_part) * bright};
}

Samples lines_of_band(const VolumeGrid& grid) {
    constexpr std::int64_t most = 4096;
    const std::int64_t lines = grid.a_scans * grid.b_scans, step = std::max<std::int64_t>(1, lines / most);
    return {(lines + step - 1) / step, step};
}

Interval band_of_lines(const std::vector<float>& lines, std::int64_t depth, std::int64_t margin) {
    std::vector<double> mean(index(depth), 0.0);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (std::isfinite(lines[i])) mean[i % mean.size()] += static_cast<double>(lines[i]);
    }
    std::vector<double> sorted = mean;
    std::ranges::sort(sorted);
    const double dark = sorted[sorted.size() / 20];
    const double least = dark + band_part * (sorted.back() - dark);
    const auto shines = [least](double value) { return value > least; };
    const auto first = std::ranges::find_if(mean, shines);
    const auto last = std::find_if(mean.rbegin(), mean.rend(), shines).base();
    if (first == mean.end()) return {0, depth};
    return {std::max<std::int64_t>(0, first - mean.begin() - margin),
            std::min(depth, static_cast<std::int64_t>(last - mean.begin()) + margin)};
}

Interval tissue_band(const PowerVolume& volume, std::int64_t margin) {
    const std::int64_t depth = volume.grid.depth;
    const Samples samples = lines_of_band(volume.grid);
    std::vector<float> lines;
    for (std::int64_t i = 0; i < samples.count; ++i) {
        const auto line = volume.power.begin() + i * samples.step * depth;
        lines.insert(lines.end(), line, line + depth);
    }
    return band_of_lines(lines, depth, margin);
}

void silence(std::vector<float>& norms) {
    std::vector<float> sorted = norms;
    std::ranges::sort(sorted);
    const float least = silent_part * sorted[sorted.size() / 2];
    for (float& norm : norms) norm = norm > least ? norm : 0;
}

RowFeatures row_features(const PowerVolume& volume, Interval band) {
    const VolumeGrid& grid = volume.grid;
    const std::vector<float>& power = volume.power;
    const Samples samples = samples_of(std::ssize(power));
    std::vector<float> some;
    for (std::int64_t i = 0; i < samples.count; ++i) some.push_back(power[index(i * samples.step)]);
    const LogFeature feature = log_feature(std::move(some));
    RowFeatures features{
        .depth = band.end - band.begin, .a_scans = grid.a_scans, .rows = grid.b_scans, .values = {}, .norms = {}};
    const std::int64_t of_row = features.depth * features.a_scans;
    features.values.resize(index(of_row * features.rows));
    features.norms.resize(index(features.rows));
    constexpr std::int64_t together = 8;
    parallel_for(0, (features.rows + together - 1) / together, [&](std::int64_t group) {
        RowWork work(features.depth, features.a_scans);
        for (std::int64_t row = group * together; row < std::min(features.rows, (group + 1) * together); ++row) {
            features.norms[index(row)] = fill_row(power.data() + row * grid.a_scans * grid.depth, grid, band, feature,
                                                  work, features.values.data() + row * of_row);
        }
    });
    silence(features.norms);
    return features;
}

}  // namespace echolux
