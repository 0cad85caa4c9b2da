#include "engine/catheter/rotation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "compute/reason.h"
#include "compute/steps/dewarp.h"
#include "engine/analysis/intensity.h"
#include "engine/analysis/sparse_solution.h"
#include "engine/analysis/stored_brightness.h"
#include "engine/layers/tissue_search.h"

namespace echolux {

template <>
const std::vector<Field<CatheterRecipe>>& describe<CatheterRecipe>() {
    using R = CatheterRecipe;
    static const std::vector<Field<R>> fields{
        number("sheath_um", &R::sheath_um, 0, 1e5, "um", Effect::view,
               "radius of the sheath, from which the axis is found; 0: unknown, see geometry.zero_radius_um")
            .special(0, "unknown")
            .found_by("endoscope intravascular rotation"),
        integer("max_shift", &R::max_shift, 1, 1000, "A-scans", Effect::view,
                "largest shift between neighbouring frames"),
        integer("window", &R::window, 2, 1000, "A-scans", Effect::view,
                "A-scans on either side that share a speed or shift"),
    };
    return fields;
}

namespace {

constexpr float missing = std::numeric_limits<float>::quiet_NaN();

double median_of(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::int64_t lines_of(const VolumeGrid& grid) {
    return grid.a_scans * grid.b_scans;
}

}  // namespace

// ---- Sheath

Sheath found_sheath(const std::vector<float>& power, const VolumeGrid& grid) {
    constexpr std::int64_t around = 8;
    const std::int64_t lines = lines_of(grid), every = std::max<std::int64_t>(1, lines / 4096);
    std::vector<double> level;
    for (std::int64_t row = 0; row < grid.depth; ++row) {
        std::vector<double> values;
        for (std::int64_t line = 0; line < lines; line += every)
            values.push_back(static_cast<double>(power[index(line * grid.depth + row)]));
        level.push_back(10 * std::log10(std::max(median_of(std::move(values)), 1e-20)));
    }
    Sheath best;
    for (std::int64_t row = 1; row < grid.depth / 2; ++row) {
        if (level[index(row)] < std::max(level[index(row - 1)], level[index(row + 1)])) continue;
        const auto side = [&](std::int64_t first, std::int64_t end) {
            return median_of({level.begin() + std::clamp<std::int64_t>(first, 0, grid.depth),
                              level.begin() + std::clamp<std::int64_t>(end, 0, grid.depth)});
        };
        const double above = level[index(row)] - std::max(side(row - around, row - 1), side(row + 2, row + around + 1));
        if (above <= best.above_db) continue;
        const double before = level[index(row - 1)], after = level[index(row + 1)];
        const double bend = before - 2 * level[index(row)] + after;
        best = {static_cast<double>(row) + (bend < 0 ? (before - after) / (2 * bend) : 0), above, 0};
    }
    std::int64_t seen = 0, all = 0;
    const std::int64_t row = std::llround(best.row);
    for (std::int64_t line = 0; line < lines && row >= 4 && row + 5 < grid.depth; line += every, ++all) {
        const float* a_scan = power.data() + line * grid.depth + row;
        const float top = std::max({a_scan[-1], a_scan[0], a_scan[1]});
        seen += top > std::max({a_scan[-4], a_scan[-3], a_scan[3], a_scan[4]}) ? 1 : 0;
    }
    best.share = all > 0 ? static_cast<double>(seen) / static_cast<double>(all) : 0;
    return best;
}

// ---- Speeds

namespace {

constexpr std::int64_t knot = 8;  // A-scans

// Intensities relative to their surroundings, less 1; 0 without signal.
struct Contrast {
    std::vector<float> values;
    std::vector<std::uint8_t> is_lit;
};

Contrast contrast_of(const std::vector<float>& power, const VolumeGrid& grid, std::int64_t first_row) {
    Contrast made{power, std::vector<std::uint8_t>(power.size())};
    for (float& value : made.values) value = std::isfinite(value) ? value : 0;
    std::vector<float> mean = made.values;
    smooth(mean, {grid.depth, lines_of(grid), 1}, {8, 5, 0});
    std::vector<float> sorted;
    for (std::size_t i = 0; i < mean.size(); i += std::max<std::size_t>(1, mean.size() / 100000))
        sorted.push_back(mean[i]);
    const auto dark = sorted.begin() + std::ssize(sorted) / 20;
    std::nth_element(sorted.begin(), dark, sorted.end());
    const float floor = std::max(4 * *dark, 1e-30F);
    parallel_for(0, lines_of(grid), [&](std::int64_t line) {
        for (std::int64_t row = 0; row < grid.depth; ++row) {
            const std::size_t i = index(line * grid.depth + row);
            // Edges such as the wall are left out: they are not speckle.
            constexpr std::int64_t reach = 14;
            const bool is_even = row >= first_row + reach && mean[i - reach] > 0.4F * mean[i];
            made.is_lit[i] = is_even && mean[i] > floor ? 1 : 0;
            made.values[i] = made.is_lit[i] != 0 ? std::min(made.values[i] / mean[i] - 1, 4.0F) : 0;
        }
    });
    return made;
}

// Sums of products of A-scans that are 0, 1, 2 and `far` apart, per line and band of rows.
struct LagSums {
    static constexpr std::int64_t bands = 40;
    std::int64_t far = 3;
    std::vector<std::array<std::array<float, bands>, 3>> sums;  // lags 0, 1, far
};

LagSums lag_sums(const Contrast& contrast, const VolumeGrid& grid, std::int64_t far) {
    LagSums made{far, {}};
    const std::int64_t lines = lines_of(grid);
    made.sums.resize(index(lines));
    parallel_for(0, lines, [&](std::int64_t line) {
        auto& of_line = made.sums[index(line)];
        of_line = {};
        const std::array<std::int64_t, 3> lags{0, 1, far};
        for (std::size_t n = 0; n < 3; ++n) {
            if (line + lags[n] >= lines) continue;
            const std::size_t from = index(line * grid.depth), to = index((line + lags[n]) * grid.depth);
            for (std::int64_t row = 0; row < grid.depth; ++row) {
                const auto r = index(row);
                const bool is_lit = (contrast.is_lit[from + r] & contrast.is_lit[to + r]) != 0;
                if (is_lit)
                    of_line[n][index(row * LagSums::bands / grid.depth)] +=
                        contrast.values[from + r] * contrast.values[to + r];
            }
        }
    });
    return made;
}

using BandSums = std::array<std::array<double, LagSums::bands>, 3>;

void add_sums(const LagSums& lags, std::int64_t begin, std::int64_t end, BandSums& to) {
    for (std::int64_t line = begin; line < end; ++line) {
        for (std::size_t n = 0; n < 3; ++n) {
            for (std::size_t band = 0; band < to[n].size(); ++band)
                to[n][band] += static_cast<double>(lags.sums[index(line)][n][band]);
        }
    }
}

using Decays = std::array<double, LagSums::bands>;

// The value from 0 to `most` at which a falling function is `wanted`. std::nullopt: nowhere.
template <class Function>
std::optional<double> solved(const Function& function, double wanted, double least, double most) {
    if (!(wanted < function(least)) || !(wanted > function(most))) return std::nullopt;
    for (int round = 0; round < 40; ++round) {
        const double middle = (least + most) / 2;
        (function(middle) > wanted ? least : most) = middle;
    }
    return (least + most) / 2;
}

// Decay q per band, from all places with their speeds; 0: too little signal. A band may be lit at few angles, whose
// speed is not the mean one.
Decays decays(const std::vector<BandSums>& places, const std::vector<std::optional<double>>& speeds, double apart) {
    Decays q{};
    for (std::size_t band = 0; band < q.size(); ++band) {
        double own = 0, near = 0, far = 0;
        for (std::size_t j = 0; j < places.size(); ++j) {
            if (!speeds[j]) continue;
            own += places[j][0][band];
            near += places[j][1][band];
            far += places[j][2][band];
        }
        constexpr double min_share = 0.05, min_ratio = 0.2;  // of signal, and of what is left at the larger lag
        if (!(near > min_share * own) || !(far > min_ratio * near)) continue;
        const auto left = [&](double decay) {
            double sum = 0;
            for (std::size_t j = 0; j < places.size(); ++j) {
                if (speeds[j]) sum += places[j][1][band] * std::exp(-apart * decay * *speeds[j] * *speeds[j]);
            }
            return sum;
        };
        q[band] = solved(left, far, 0, 3).value_or(0);
    }
    return q;
}

// The speed that explains the decay from lag 1 to lag far. Noise has no part in either.
std::optional<double> speed_at(const BandSums& sums, const Decays& q, double apart) {
    double near = 0, far = 0, total = 0;
    for (std::size_t band = 0; band < q.size(); ++band) {
        if (q[band] == 0) continue;
        near += sums[1][band];
        far += sums[2][band];
        total += sums[0][band];
    }
    if (!(near > 0.05 * total) || !(total > 0)) return std::nullopt;
    const auto left = [&](double v) {
        double sum = 0;
        for (std::size_t band = 0; band < q.size(); ++band) {
            if (q[band] > 0) sum += sums[1][band] * std::exp(-apart * q[band] * v * v);
        }
        return sum;
    };
    return solved(left, far, 0.1, 4);
}

// The largest lag at which lit speckle still correlates by a quarter, from 2 to 6.
LagSums usable_lags(const Contrast& contrast, const VolumeGrid& grid) {
    LagSums best = lag_sums(contrast, grid, 2);
    for (std::int64_t far = 3; far <= 6; ++far) {
        LagSums next = lag_sums(contrast, grid, far);
        BandSums all{};
        add_sums(next, 0, std::ssize(next.sums), all);
        if (std::accumulate(all[2].begin(), all[2].end(), 0.0) <
            0.25 * std::accumulate(all[1].begin(), all[1].end(), 0.0))
            break;
        best = std::move(next);
    }
    return best;
}

// Speeds between knots, relative to their mean, and decays, in turns. std::nullopt: unknown.
std::vector<std::optional<double>> found_speeds(const Contrast& contrast, const VolumeGrid& grid, std::int64_t window) {
    const LagSums lags = usable_lags(contrast, grid);
    const std::int64_t lines = lines_of(grid), knots = (lines - 1) / knot + 1;
    std::vector<BandSums> places(index(knots));
    parallel_for(0, knots, [&](std::int64_t j) {
        const std::int64_t middle = j * knot + knot / 2;
        // A pair `far` apart is at the middle between its A-scans.
        const std::int64_t begin = std::max<std::int64_t>(0, middle - window - lags.far / 2);
        // Neighbouring frames share a speed, because few A-scans bias it; shifts between frames find their difference.
        constexpr std::int64_t together = 4;
        for (std::int64_t frame = -together; frame <= together; ++frame) {
            const std::int64_t from = begin + frame * grid.a_scans;
            add_sums(lags, std::max<std::int64_t>(0, from), std::min(lines, from + 2 * window), places[index(j)]);
        }
    });
    const auto apart = static_cast<double>(lags.far * lags.far - 1);
    std::vector<std::optional<double>> speeds(index(knots), 1.0);
    constexpr int rounds = 10;
    for (int round = 0; round < rounds; ++round) {
        const Decays q = decays(places, speeds, apart);
        parallel_for(0, knots, [&](std::int64_t j) { speeds[index(j)] = speed_at(places[index(j)], q, apart); });
        double sum = 0, count = 0;
        for (const auto& speed : speeds) {
            if (speed) sum += *speed, count += 1;
        }
        for (auto& speed : speeds) {
            if (speed) *speed *= count / sum;
        }
    }
    return speeds;
}

// ---- Shifts between frames

struct FrameShift {
    double from = 0, to = 0;  // A-scans, counted over the whole pullback
    double correlation = 0;
};

// Products of A-scan `line` with those of the next frame, from -max_shift to max_shift, and their squares.
struct LineProducts {
    std::vector<double> product, square;
    double own = 0;
};

std::optional<FrameShift> shift_at(const std::vector<LineProducts>& lines, std::int64_t middle, std::int64_t window,
                                   std::int64_t max_shift, std::int64_t a_scans) {
    const std::int64_t shifts = 2 * max_shift + 1;
    std::vector<double> correlation(index(shifts));
    for (std::int64_t s = 0; s < shifts; ++s) {
        double product = 0, square = 0, own = 0;
        for (std::int64_t line = middle - window; line <= middle + window; ++line) {
            if (line < 0 || line >= std::ssize(lines) || lines[index(line)].product.empty()) continue;
            product += lines[index(line)].product[index(s)];
            square += lines[index(line)].square[index(s)];
            own += lines[index(line)].own;
        }
        correlation[index(s)] = square > 0 && own > 0 ? product / std::sqrt(square * own) : 0;
    }
    const std::int64_t best = std::ranges::max_element(correlation) - correlation.begin();
    if (best == 0 || best == shifts - 1 || correlation[index(best)] < 0.15) return std::nullopt;
    const double before = correlation[index(best - 1)], at = correlation[index(best)],
                 after = correlation[index(best + 1)];
    const double bend = before - 2 * at + after;
    const double shift = static_cast<double>(best - max_shift) + (bend < 0 ? (before - after) / (2 * bend) : 0);
    return FrameShift{static_cast<double>(middle), static_cast<double>(middle + a_scans) + shift, at};
}

std::vector<FrameShift> frame_shifts(const std::vector<float>& features, const VolumeGrid& grid,
                                     const CatheterRecipe& recipe, Progress& progress) {
    const std::int64_t lines = lines_of(grid), n = grid.a_scans, most = std::min(recipe.max_shift, n / 2 - 1);
    std::vector<LineProducts> all(index(lines));
    progress.begin("compare frames", grid.b_scans - 1, "frames");
    for (std::int64_t frame = 0; frame + 1 < grid.b_scans; ++frame, progress.advance(1)) {
        parallel_for(frame * n, (frame + 1) * n, [&](std::int64_t line) {
            LineProducts& of = all[index(line)];
            const float* own = features.data() + line * grid.depth;
            for (std::int64_t z = 0; z < grid.depth; ++z) of.own += static_cast<double>(own[z] * own[z]);
            for (std::int64_t s = -most; s <= most; ++s) {
                const std::int64_t other = std::clamp<std::int64_t>(line + n + s, 0, lines - 1);
                const float* next = features.data() + other * grid.depth;
                float product = 0, square = 0;
                for (std::int64_t z = 0; z < grid.depth; ++z) {
                    product += own[z] * next[z];
                    square += next[z] * next[z];
                }
                of.product.push_back(static_cast<double>(product));
                of.square.push_back(static_cast<double>(square));
            }
        });
    }
    progress.end();
    std::vector<FrameShift> found;
    for (std::int64_t middle = 0; middle < lines - n; middle += knot) {
        const auto shift = shift_at(all, middle, recipe.window, most, n);
        if (shift && shift->to < static_cast<double>(lines - 1)) found.push_back(*shift);
    }
    return found;
}

// ---- All together

// Adds factor * deviation at an A-scan, between its knots.
void add_deviation(SparseRow& row, double line, double factor, std::int64_t knots) {
    const double at = std::clamp(line / knot, 0.0, static_cast<double>(knots - 1) - 1e-9);
    const auto below = static_cast<std::size_t>(at);
    const double part = at - static_cast<double>(below);
    row.terms.emplace_back(below, factor * (1 - part));
    row.terms.emplace_back(below + 1, factor * part);
}

double square(double value) {
    return value * value;
}

// Errors of the measurements in A-scans, as measured on simulated pullbacks.
constexpr double speed_error = 1.5, shift_error = 0.1, fiducial_error = 0.3, step_error = 5;

struct Equations {
    std::vector<SparseRow> rows;
    std::size_t unknowns = 0;
};

Equations equations_of(const std::vector<std::optional<double>>& speeds, const std::vector<FrameShift>& shifts,
                       const std::vector<Fiducial>& fiducials, const VolumeGrid& grid, std::int64_t knots) {
    Equations all;
    for (std::int64_t j = 0; j + 1 < knots; ++j) {
        SparseRow row{{{index(j), -1}, {index(j + 1), 1}}, 0, 1 / square(step_error)};
        if (const auto& speed = speeds[index(j)]) row.value = knot * (*speed - 1), row.weight = 1 / square(speed_error);
        all.rows.push_back(std::move(row));
    }
    for (const FrameShift& shift : shifts) {
        SparseRow row{{}, shift.to - shift.from - static_cast<double>(grid.a_scans), 0};
        row.weight = square(shift.correlation / shift_error);
        add_deviation(row, shift.from, 1, knots);
        add_deviation(row, shift.to, -1, knots);
        all.rows.push_back(std::move(row));
    }
    std::vector<std::optional<double>> first_at;  // A-scan at which each mark is first seen
    for (const Fiducial& fiducial : fiducials) {
        const std::int64_t mark = std::llround(fiducial.mark);
        first_at.resize(std::max(first_at.size(), index(mark + 1)));
        if (!first_at[index(mark)]) first_at[index(mark)] = fiducial.a_scan;
        // A mark close to the ends of the frames may move into the next turn or the one before.
        const double turn = std::round((fiducial.a_scan - *first_at[index(mark)]) / static_cast<double>(grid.a_scans)),
                     at = fiducial.a_scan - turn * static_cast<double>(grid.a_scans);
        SparseRow row{{{index(knots + mark), -1}}, -at, 1 / square(fiducial_error)};
        add_deviation(row, fiducial.frame * static_cast<double>(grid.a_scans) + fiducial.a_scan, 1, knots);
        all.rows.push_back(std::move(row));
    }
    all.unknowns = index(knots) + first_at.size();
    return all;
}

// The motor turns evenly on average.
std::vector<double> without_trend(std::vector<double> deviations, std::int64_t knots) {
    const double middle = static_cast<double>(knots - 1) / 2;
    double product = 0, squares = 0;
    for (std::int64_t j = 0; j < knots; ++j) {
        product += (static_cast<double>(j) - middle) * deviations[index(j)];
        squares += square(static_cast<double>(j) - middle);
    }
    for (std::int64_t j = 0; j < knots; ++j)
        deviations[index(j)] -= product / squares * (static_cast<double>(j) - middle);
    return deviations;
}

}  // namespace

Rotation found_rotation(const std::vector<float>& power, const VolumeGrid& grid, std::int64_t first_row,
                        const CatheterRecipe& recipe, const std::vector<Fiducial>& fiducials, Progress& progress) {
    check(recipe, "catheter");
    const std::int64_t lines = lines_of(grid), knots = (lines - 1) / knot + 2;
    const Contrast contrast = contrast_of(power, grid, first_row);
    std::vector<std::optional<double>> speeds = found_speeds(contrast, grid, recipe.window);
    speeds.resize(index(knots));
    const std::vector<FrameShift> shifts = frame_shifts(contrast.values, grid, recipe, progress);
    Rotation found;
    found.frame_shifts = std::ssize(shifts);
    found.speeds = std::ranges::count_if(speeds, [](const auto& speed) { return speed.has_value(); });
    found.fiducials = std::ssize(fiducials);
    if (4 * found.speeds < knots && 4 * found.frame_shifts < knots && fiducials.empty()) {
        throw Error(
            ErrorCode::bad_setting,
            fmt::format("speckle shows no rotation: {:.0f} % of the places have a speed, {:.0f} % are found in the "
                        "next frame, 25 % are needed",
                        100.0 * static_cast<double>(found.speeds) / static_cast<double>(knots),
                        100.0 * static_cast<double>(found.frame_shifts) / static_cast<double>(knots)),
            "volume", "check that B-scans are turns and depth runs outwards, or give fiducials");
    }
    const Equations equations = equations_of(speeds, shifts, fiducials, grid, knots);
    constexpr double uniform = 1e-4;  // weight of no deviation
    const std::vector<double> deviations =
        without_trend(sparse_solution(equations.rows, equations.unknowns, uniform), knots);
    const auto deviation = [&](double line) {
        SparseRow row;
        add_deviation(row, line, 1, knots);
        return row.terms[0].second * deviations[row.terms[0].first] +
               row.terms[1].second * deviations[row.terms[1].first];
    };
    double squares = 0, mean = 0;
    for (std::int64_t line = 0; line < lines; ++line) {
        constexpr double min_step = 0.1;
        const double off = deviation(static_cast<double>(line));
        const double angle = static_cast<double>(line) + off;
        found.angle.push_back(line == 0 ? angle : std::max(angle, found.angle.back() + min_step));
        mean += off / static_cast<double>(lines);
        squares += off * off / static_cast<double>(lines);
    }
    found.rms_a_scans = std::sqrt(std::max(0.0, squares - mean * mean));
    std::vector<double> correlations;
    double of_shifts = 0, of_speeds = 0;
    for (const FrameShift& shift : shifts) {
        correlations.push_back(shift.correlation);
        of_shifts += square(shift.to - shift.from - static_cast<double>(grid.a_scans) + deviation(shift.to) -
                            deviation(shift.from));
    }
    for (const auto& speed : speeds) of_speeds += speed ? square(*speed - 1) : 0;
    found.frame_correlation = median_of(correlations);
    found.frame_rms = shifts.empty() ? 0 : std::sqrt(of_shifts / static_cast<double>(shifts.size()));
    found.speed_rms = found.speeds == 0 ? 0 : std::sqrt(of_speeds / static_cast<double>(found.speeds));
    return found;
}

std::vector<float> uniform_turns(const std::vector<float>& power, const VolumeGrid& grid, const Rotation& rotation) {
    const std::int64_t lines = lines_of(grid), depth = grid.depth;
    std::vector<float> made(power.size(), missing);
    parallel_for(0, lines, [&](std::int64_t line) {
        const auto wanted = static_cast<double>(line);
        const auto above = std::ranges::lower_bound(rotation.angle, wanted);
        if (above == rotation.angle.end() || (above == rotation.angle.begin() && *above > wanted)) return;
        const std::int64_t to = std::max<std::int64_t>(1, above - rotation.angle.begin());
        const double from_angle = rotation.angle[index(to - 1)], to_angle = rotation.angle[index(to)];
        const auto part = static_cast<float>((wanted - from_angle) / (to_angle - from_angle));
        float weight[4];
        weigh_taps<4>(part, weight);
        const float* nearest = power.data() + (part > 0.5F ? to : to - 1) * depth;
        float* const out = made.data() + line * depth;
        std::fill_n(out, depth, 0.0F);
        for (std::int64_t k = 0; k < 4; ++k) {
            const float* a_scan = power.data() + std::clamp<std::int64_t>(to - 2 + k, 0, lines - 1) * depth;
            for (std::int64_t z = 0; z < depth; ++z) out[z] += weight[k] * a_scan[z];
        }
        for (std::int64_t z = 0; z < depth; ++z) out[z] = out[z] <= 0 ? nearest[z] : out[z];
    });
    return made;
}

// ---- Lumen

namespace {

// Fills gaps between seen radii, around the turn.
std::vector<double> without_gaps(const std::vector<float>& radius) {
    const std::int64_t n = std::ssize(radius);
    std::vector<double> filled(radius.begin(), radius.end());
    for (std::int64_t a = 0; a < n; ++a) {
        if (radius[index(a)] == radius[index(a)]) continue;
        std::int64_t before = 1, after = 1;
        while (before < n && !(radius[index((a - before + n) % n)] == radius[index((a - before + n) % n)])) ++before;
        while (after < n && !(radius[index((a + after) % n)] == radius[index((a + after) % n)])) ++after;
        const double from = static_cast<double>(radius[index((a - before + n) % n)]),
                     to = static_cast<double>(radius[index((a + after) % n)]);
        filled[index(a)] = from + (to - from) * static_cast<double>(before) / static_cast<double>(before + after);
    }
    return filled;
}

}  // namespace

std::vector<LumenContour> lumen_contours(const std::vector<float>& power, const VolumeGrid& grid, double zero_radius_um,
                                         Progress& progress) {
    const double row_um = grid.spacing_um[0];
    // The search expects the axis at the upper edge of row 0.
    const std::int64_t shift = std::llround((zero_radius_um + grid.first_depth_um) / row_um - 0.5);
    const std::int64_t depth = grid.depth + shift;
    constexpr std::int64_t min_rows = 16;
    if (depth < min_rows) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("puts the axis at row {}, but there are {}", -shift, plural(grid.depth, "rows")),
                    "geometry.zero_radius_um", "check its sign: it is the radius of the sheath less its depth");
    }
    const double first_um = zero_radius_um + grid.first_depth_um - static_cast<double>(shift) * row_um;
    std::vector<LumenContour> contours(index(grid.b_scans));
    progress.begin("find the lumen", grid.b_scans, "frames");
    for (std::int64_t frame = 0; frame < grid.b_scans; ++frame, progress.advance(1)) {
        std::vector<float> values(index(depth * grid.a_scans), missing);
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            for (std::int64_t row = std::max<std::int64_t>(0, shift); row < depth; ++row)
                values[index(a * depth + row)] = power[index((frame * grid.a_scans + a) * grid.depth + row - shift)];
        }
        const Brightness bright = brightness_of(values, {depth, grid.a_scans, 1}, {.stored_as = StoredAs::intensity});
        const BScanBrightness b_scan{
            {depth, grid.a_scans, bright.linear}, bright.known, bright.floor, bright.top, row_um, 0, 1};
        const ConfidentCourse course = find_lumen(b_scan);
        LumenContour& contour = contours[index(frame)];
        double seen = 0;
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            const Reason reason = course.reasons[index(a)];
            const bool is_seen = reason == Reason::ok || reason == Reason::ambiguous;
            seen += is_seen ? 1 : 0;
            contour.radius_um.push_back(
                is_seen ? static_cast<float>(first_um + static_cast<double>(course.rows[index(a)]) * row_um) : missing);
        }
        contour.seen = seen / static_cast<double>(grid.a_scans);
        constexpr double min_seen = 0.5;
        contour.area_mm2 = contour.mean_um = contour.min_um = contour.max_um = std::numeric_limits<double>::quiet_NaN();
        if (contour.seen < min_seen) continue;
        const std::vector<double> radius = without_gaps(contour.radius_um);
        double squares = 0;
        for (const double r : radius) squares += r * r;
        const auto count = static_cast<double>(grid.a_scans);
        contour.area_mm2 = std::numbers::pi * squares / count * 1e-6;
        contour.mean_um = std::accumulate(radius.begin(), radius.end(), 0.0) / count;
        contour.min_um = *std::ranges::min_element(radius);
        contour.max_um = *std::ranges::max_element(radius);
    }
    progress.end();
    return contours;
}

}  // namespace echolux
