#include "engine/stitching/tile_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/describe.h"
#include "engine/analysis/intensity.h"
#include "engine/analysis/sparse_solution.h"
#include "engine/flow/time_series.h"
#include "engine/memory.h"

namespace echolux {

template <>
const std::vector<Field<StitchRecipe>>& describe<StitchRecipe>() {
    using R = StitchRecipe;
    static const std::vector<Field<R>> fields{
        number("search_um", &R::search_um, 0, 1e5, "um", Effect::view,
               "largest error of the stage along A-scans and B-scans")
            .found_by("stitch mosaic tiles"),
        number("search_depth_um", &R::search_depth_um, 0, 1e5, "um", Effect::view,
               "largest error of the stage along depth"),
        number("min_correlation", &R::min_correlation, 0, 1, "", Effect::view,
               "overlaps with a smaller correlation are left out"),
        number("max_error", &R::max_error, 0.01, 1000, "voxels", Effect::view,
               "overlaps that are further from the common solution are left out"),
        flag("equalise", &R::equalise, Effect::view, "equalise the brightness of tiles, over the field and over depth"),
    };
    return fields;
}

std::string_view name_of(PairReason reason) {
    switch (reason) {
        case PairReason::ok: return "ok";
        case PairReason::weak_match: return "weak match";
        case PairReason::out_of_range: return "out of range";
        case PairReason::outlier: return "outlier";
    }
    return "";
}

namespace {

using Shift3 = std::array<std::int64_t, 3>;

// ---- Overlaps

Shift3 size_of(const VolumeGrid& grid) {
    return {grid.depth, grid.a_scans, grid.b_scans};
}

// Largest error of the stage in voxels, at most the size of a tile.
Shift3 search_of(const TileSet& set, const StitchRecipe& recipe) {
    Shift3 search{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const double um = axis == 0 ? recipe.search_depth_um : recipe.search_um;
        const auto voxels = static_cast<std::int64_t>(std::ceil(um / set.grid().spacing_um[axis]));
        for (const Tile& tile : set.tiles)
            search[axis] = std::max(search[axis], std::min(voxels, size_of(tile.grid)[axis]));
    }
    return search;
}

Shift3 rounded(const TileShift& shift) {
    return {std::llround(shift[0]), std::llround(shift[1]), std::llround(shift[2])};
}

// Parts of two tiles that may overlap; the second tile is at `nominal` voxels from the first.
struct Overlap {
    Shift3 nominal{};
    std::array<Interval, 3> first, second;

    std::int64_t voxels() const {
        std::int64_t product = 1;
        for (const Interval& one : first) product *= one.end - one.begin;
        return product;
    }
};

std::optional<Overlap> overlap_of(const Tile& a, const Tile& b, const Shift3& search) {
    constexpr std::int64_t min_voxels = 6;  // along each axis, for a pattern
    Overlap found;
    found.nominal = rounded({b.first[0] - a.first[0], b.first[1] - a.first[1], b.first[2] - a.first[2]});
    const Shift3 of_a = size_of(a.grid), of_b = size_of(b.grid);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::int64_t at = found.nominal[axis], reach = search[axis];
        if (std::min(of_a[axis], at + of_b[axis]) - std::max<std::int64_t>(0, at) < min_voxels) return std::nullopt;
        found.first[axis] = {std::max<std::int64_t>(0, at - reach), std::min(of_a[axis], at + of_b[axis] + reach)};
        found.second[axis] = {std::max<std::int64_t>(0, -at - reach), std::min(of_b[axis], of_a[axis] - at + reach)};
    }
    return found;
}

// ---- Correlation

// Features of a part of a tile at one resolution.
struct Features {
    Shift3 size{};
    std::vector<float> values;
};

// Logarithmic power, smoothed a little, without what varies slowly along depth.
Features features_of(const TileBox& box) {
    Features made{box.size(), box.power};
    double sum = 0, count = 0;
    for (const float power : box.power) {
        if (power == power) sum += static_cast<double>(power), count += 1;
    }
    const auto floor = static_cast<float>(std::max(0.1 * sum / std::max(count, 1.0), 1e-30));
    for (float& value : made.values) value = std::log((value == value ? value : 0) + floor);
    smooth(made.values, made.size, {0.6, 0.6, 0.6});
    std::vector<float> slow = made.values;
    constexpr double slow_rows = 10;
    smooth(slow, made.size, {slow_rows, 0, 0});
    for (std::size_t i = 0; i < slow.size(); ++i) made.values[i] -= slow[i];
    return made;
}

// Half the resolution along the axes of `halve`.
Features halved(const Features& fine, const std::array<bool, 3>& halve) {
    Features made;
    Shift3 step{1, 1, 1};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (halve[axis]) step[axis] = 2;
        made.size[axis] = fine.size[axis] / step[axis];
    }
    made.values.resize(index(made.size[0] * made.size[1] * made.size[2]));
    std::size_t at = 0;
    for (std::int64_t b = 0; b < made.size[2]; ++b) {
        for (std::int64_t a = 0; a < made.size[1]; ++a) {
            for (std::int64_t z = 0; z < made.size[0]; ++z, ++at) {
                float sum = 0;
                for (std::int64_t j = 0; j < step[2]; ++j) {
                    for (std::int64_t i = 0; i < step[1]; ++i) {
                        const float* from = fine.values.data() +
                                            ((b * step[2] + j) * fine.size[1] + a * step[1] + i) * fine.size[0] +
                                            z * step[0];
                        for (std::int64_t k = 0; k < step[0]; ++k) sum += from[k];
                    }
                }
                made.values[at] = sum / static_cast<float>(step[0] * step[1] * step[2]);
            }
        }
    }
    return made;
}

struct Correlator {
    const Features &first, &second;
    std::int64_t min_voxels;
    std::int64_t margin = 0;  // at all ends, where smoothing changed the voxels and would pull edges of tiles together

    // Voxel v of the second part is at v + shift of the first. -1: too few voxels in common.
    double operator()(const Shift3& shift) const {
        std::array<Interval, 3> common;
        std::int64_t voxels = 1;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            common[axis] = {std::max<std::int64_t>(0, shift[axis]) + margin,
                            std::min(first.size[axis], second.size[axis] + shift[axis]) - margin};
            voxels *= std::max<std::int64_t>(0, common[axis].end - common[axis].begin);
        }
        if (voxels < min_voxels) return -1;
        double products = 0, squares_a = 0, squares_b = 0;
        const std::int64_t rows = common[0].end - common[0].begin;
        for (std::int64_t b = common[2].begin; b < common[2].end; ++b) {
            for (std::int64_t a = common[1].begin; a < common[1].end; ++a) {
                const float* p = first.values.data() + (b * first.size[1] + a) * first.size[0] + common[0].begin;
                const float* q = second.values.data() +
                                 ((b - shift[2]) * second.size[1] + a - shift[1]) * second.size[0] + common[0].begin -
                                 shift[0];
                float pq = 0, pp = 0, qq = 0;
                for (std::int64_t z = 0; z < rows; ++z) {
                    pq += p[z] * q[z];
                    pp += p[z] * p[z];
                    qq += q[z] * q[z];
                }
                products += static_cast<double>(pq);
                squares_a += static_cast<double>(pp);
                squares_b += static_cast<double>(qq);
            }
        }
        return squares_a > 0 && squares_b > 0 ? products / std::sqrt(squares_a * squares_b) : -1;
    }
};

// The best of all shifts within `range` of `centre`.
std::pair<Shift3, double> best_within(const Correlator& correlator, const Shift3& centre, const Shift3& range) {
    std::vector<Shift3> shifts;
    for (std::int64_t z = -range[0]; z <= range[0]; ++z) {
        for (std::int64_t a = -range[1]; a <= range[1]; ++a) {
            for (std::int64_t b = -range[2]; b <= range[2]; ++b)
                shifts.push_back({centre[0] + z, centre[1] + a, centre[2] + b});
        }
    }
    std::vector<double> found(shifts.size());
    parallel_for(0, std::ssize(shifts), [&](std::int64_t i) { found[index(i)] = correlator(shifts[index(i)]); });
    const auto best = std::ranges::max_element(found) - found.begin();
    return {shifts[index(best)], found[index(best)]};
}

std::int64_t voxels_for(const Features& features, double share) {
    return static_cast<std::int64_t>(share * static_cast<double>(features.values.size()));
}

constexpr double min_common = 0.08;  // of the part of a tile that may overlap

// Finds the shift from coarse to fine, around `centre` within `range`.
std::pair<Shift3, double> best_shift(const Features& first, const Features& second, const Shift3& centre,
                                     const Shift3& range) {
    constexpr std::int64_t few = 3, min_side = 12;
    std::array<bool, 3> halve{};
    Shift3 coarse_centre = centre, coarse_range = range, further{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        halve[axis] = range[axis] > few && std::min(first.size[axis], second.size[axis]) >= min_side;
        if (!halve[axis]) continue;
        coarse_centre[axis] = std::llround(static_cast<double>(centre[axis]) / 2);
        coarse_range[axis] = (range[axis] + 1) / 2;
        further[axis] = 1;
    }
    const Correlator correlator{first, second, voxels_for(first, min_common)};
    if (!halve[0] && !halve[1] && !halve[2]) return best_within(correlator, centre, range);
    auto [at, found] = best_shift(halved(first, halve), halved(second, halve), coarse_centre, coarse_range);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (halve[axis]) at[axis] *= 2;
    }
    constexpr int max_steps = 8;
    std::pair<Shift3, double> best{at, -2};
    for (int step = 0; step < max_steps; ++step) {
        const auto next = best_within(correlator, best.first, {1, 1, 1});
        if (next.first == best.first) return next;
        best = next;
    }
    return best;
}

// Distance of the maximum of a parabola from the middle one of three values.
double parabola_offset(double before, double middle, double after) {
    const double curve = before - 2 * middle + after;
    return curve < 0 && before > -1 && after > -1 ? std::clamp((before - after) / (2 * curve), -0.5, 0.5) : 0;
}

TilePair registered(const Overlap& overlap, const TileBox& first, const TileBox& second, const Shift3& search,
                    const StitchRecipe& recipe) {
    const Features a = features_of(first), b = features_of(second);
    Shift3 centre{};
    for (std::size_t axis = 0; axis < 3; ++axis)
        centre[axis] = overlap.nominal[axis] + second.range[axis].begin - first.range[axis].begin;
    const auto [best, correlation] = best_shift(a, b, centre, search);
    TilePair pair;
    pair.correlation = correlation;
    const Correlator correlator{a, b, voxels_for(a, min_common), 1};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        Shift3 before = best, after = best;
        --before[axis];
        ++after[axis];
        pair.shift[axis] = static_cast<double>(best[axis] + first.range[axis].begin - second.range[axis].begin) +
                           parabola_offset(correlator(before), correlator(best), correlator(after));
        if (std::abs(best[axis] - centre[axis]) > search[axis]) pair.reason = PairReason::out_of_range;
    }
    if (correlation < recipe.min_correlation) pair.reason = PairReason::weak_match;
    return pair;
}

// ---- Brightness

// Difference of the block means of two tiles in dB, and where the block is in each of them.
struct BlockDifference {
    std::size_t pair = 0;
    std::array<float, 3> at_first{}, at_second{};  // from -1 to 1: depth, A-scans, B-scans
    float db = 0;
};

float from_centre(double at, std::int64_t count) {
    return count > 1 ? static_cast<float>(2 * at / static_cast<double>(count - 1) - 1) : 0;
}

void add_blocks(const Tile& a, const Tile& b, const TileBox& first, const TileBox& second, const TilePair& pair,
                std::size_t number, std::vector<BlockDifference>& to) {
    const Shift3 shift = rounded(pair.shift), of_a = size_of(a.grid), of_b = size_of(b.grid);
    std::array<Interval, 3> common;
    Shift3 block{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        common[axis] = {std::max(first.range[axis].begin, second.range[axis].begin + shift[axis]),
                        std::min(first.range[axis].end, second.range[axis].end + shift[axis])};
        constexpr std::int64_t parts = 12;
        block[axis] = std::max<std::int64_t>(5, (common[axis].end - common[axis].begin) / parts);
    }
    std::vector<std::pair<double, BlockDifference>> found;
    Shift3 at{};
    for (at[2] = common[2].begin; at[2] + block[2] <= common[2].end; at[2] += block[2]) {
        for (at[1] = common[1].begin; at[1] + block[1] <= common[1].end; at[1] += block[1]) {
            for (at[0] = common[0].begin; at[0] + block[0] <= common[0].end; at[0] += block[0]) {
                double of_first = 0, of_second = 0;
                for (std::int64_t j = at[2]; j < at[2] + block[2]; ++j) {
                    for (std::int64_t i = at[1]; i < at[1] + block[1]; ++i) {
                        const auto line = [&](const TileBox& box, std::int64_t z, std::int64_t x, std::int64_t y) {
                            const auto [depth, a_scans, b_scans] = box.size();
                            return box.power.data() +
                                   ((y - box.range[2].begin) * a_scans + x - box.range[1].begin) * depth + z -
                                   box.range[0].begin;
                        };
                        const float* p = line(first, at[0], i, j);
                        const float* q = line(second, at[0] - shift[0], i - shift[1], j - shift[2]);
                        for (std::int64_t z = 0; z < block[0]; ++z) {
                            of_first += static_cast<double>(p[z]);
                            of_second += static_cast<double>(q[z]);
                        }
                    }
                }
                if (!(of_first > 0 && of_second > 0)) continue;  // also for NaN
                BlockDifference one{number, {}, {}, static_cast<float>(10 * std::log10(of_first / of_second))};
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    const double middle = static_cast<double>(at[axis]) + static_cast<double>(block[axis] - 1) / 2;
                    one.at_first[axis] = from_centre(middle, of_a[axis]);
                    one.at_second[axis] = from_centre(middle - static_cast<double>(shift[axis]), of_b[axis]);
                }
                found.emplace_back(of_first, one);
            }
        }
    }
    // The darker half is noise, which no illumination changes.
    std::ranges::sort(found, [](const auto& x, const auto& y) { return x.first > y.first; });
    for (std::size_t i = 0; i < (found.size() + 1) / 2; ++i) to.push_back(found[i].second);
}

using FieldTerms = std::array<double, TileBrightness::field_terms>;
using DepthTerms = std::array<double, TileBrightness::depth_terms>;

FieldTerms terms_over_field(double u, double v) {
    FieldTerms terms{};
    std::size_t at = 0;
    for (int order = 1; order <= 4; ++order) {
        for (int j = 0; j <= order; ++j) terms[at++] = std::pow(u, order - j) * std::pow(v, j);
    }
    return terms;
}

DepthTerms terms_over_depth(double w) {
    return {w, w * w, w * w * w, w * w * w * w};
}

TileBrightness fitted_brightness(std::size_t tiles, const std::vector<TilePair>& pairs,
                                 const std::vector<BlockDifference>& blocks) {
    std::vector<SparseRow> rows;
    for (const BlockDifference& block : blocks) {
        const TilePair& pair = pairs[block.pair];
        if (pair.reason != PairReason::ok) continue;
        SparseRow row{{{pair.first, 1}, {pair.second, -1}}, static_cast<double>(block.db), 1};
        const auto field_a = terms_over_field(double{block.at_first[1]}, double{block.at_first[2]}),
                   field_b = terms_over_field(double{block.at_second[1]}, double{block.at_second[2]});
        for (std::size_t i = 0; i < field_a.size(); ++i) row.terms.emplace_back(tiles + i, field_a[i] - field_b[i]);
        const auto depth_a = terms_over_depth(double{block.at_first[0]}),
                   depth_b = terms_over_depth(double{block.at_second[0]});
        for (std::size_t i = 0; i < depth_a.size(); ++i)
            row.terms.emplace_back(tiles + field_a.size() + i, depth_a[i] - depth_b[i]);
        rows.push_back(std::move(row));
    }
    TileBrightness made;
    made.gain_db.assign(tiles, 0);
    if (rows.empty()) return made;
    const std::size_t unknowns = tiles + TileBrightness::field_terms + TileBrightness::depth_terms;
    const double ridge = 1e-4 * static_cast<double>(rows.size());
    std::vector<double> found(unknowns, 0), left(rows.size()), weights(rows.size(), 1);
    for (int round = 0; round < 3; ++round) {
        if (round > 0) leave_out_outliers(left, weights);
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i].weight = weights[i];
        found = sparse_solution(rows, unknowns, ridge);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            left[i] = rows[i].value;
            for (const auto& [at, factor] : rows[i].terms) left[i] -= factor * found[at];
        }
    }
    double before = 0, after = 0, count = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        before += weights[i] * rows[i].value * rows[i].value;
        after += weights[i] * left[i] * left[i];
        count += weights[i];
    }
    made.before_db = std::sqrt(before / count);
    made.after_db = std::sqrt(after / count);
    std::copy_n(found.begin(), tiles, made.gain_db.begin());
    std::copy_n(found.begin() + std::ssize(made.gain_db), made.field.size(), made.field.begin());
    std::copy_n(found.end() - std::ssize(made.depth), made.depth.size(), made.depth.begin());
    return made;
}

// ---- Positions

// Positions of the stage, corrected by the linear map that fits the overlaps best: scale, rotation and tilt.
std::vector<TileShift> solved_positions(const TileSet& set, const std::vector<TilePair>& pairs) {
    const std::size_t tiles = set.tiles.size();
    std::vector<TileShift> positions(tiles);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto stage = [&](std::size_t tile, std::size_t along) { return set.tiles[tile].first[along]; };
        std::vector<SparseRow> of_map, rows;
        for (const TilePair& pair : pairs) {
            if (pair.reason != PairReason::ok) continue;
            const double weight = pair.weight;
            const double off = pair.shift[axis] - (stage(pair.second, axis) - stage(pair.first, axis));
            of_map.push_back({{{0, (stage(pair.second, 1) - stage(pair.first, 1)) / 1000},
                               {1, (stage(pair.second, 2) - stage(pair.first, 2)) / 1000}},
                              off,
                              weight});
            rows.push_back({{{pair.second, 1}, {pair.first, -1}}, off, weight});
        }
        const std::vector<double> slopes = sparse_solution(of_map, 2, 1e-9);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (const auto& [at, factor] : of_map[i].terms) rows[i].value -= factor * slopes[at];
        }
        constexpr double stage_weight = 1e-4;
        const std::vector<double> found = sparse_solution(rows, tiles, stage_weight);
        for (std::size_t tile = 0; tile < tiles; ++tile) {
            positions[tile][axis] =
                stage(tile, axis) + found[tile] + slopes[0] * stage(tile, 1) / 1000 + slopes[1] * stage(tile, 2) / 1000;
        }
    }
    return positions;
}

void set_errors(const std::vector<TileShift>& first, std::vector<TilePair>& pairs) {
    for (TilePair& pair : pairs) {
        double squares = 0;
        for (std::size_t axis = 0; axis < 3; ++axis)
            squares += std::pow(first[pair.second][axis] - first[pair.first][axis] - pair.shift[axis], 2);
        pair.error = std::sqrt(squares);
    }
}

// Leaves out the worst overlaps until the others agree.
void leave_out_contradictions(const TileSet& set, const StitchRecipe& recipe, TileAlignment& alignment) {
    for (std::size_t round = 0; round <= alignment.pairs.size(); ++round) {
        alignment.first = solved_positions(set, alignment.pairs);
        set_errors(alignment.first, alignment.pairs);
        double worst = 0;
        for (const TilePair& pair : alignment.pairs) {
            if (pair.reason == PairReason::ok) worst = std::max(worst, pair.error);
        }
        if (worst <= recipe.max_error) return;
        for (TilePair& pair : alignment.pairs) {
            if (pair.reason == PairReason::ok && pair.error > 0.8 * worst && pair.error > recipe.max_error)
                pair.reason = PairReason::outlier;
        }
    }
}

// A tile of which most overlaps were left out is elsewhere: the others match by accident.
bool leave_out_strangers(std::size_t tiles, std::vector<TilePair>& pairs) {
    std::vector<std::int64_t> used(tiles), all(tiles);
    for (const TilePair& pair : pairs) {
        for (const std::size_t tile : {pair.first, pair.second}) {
            ++all[tile];
            used[tile] += pair.reason == PairReason::ok ? 1 : 0;
        }
    }
    bool is_any = false;
    for (TilePair& pair : pairs) {
        for (const std::size_t tile : {pair.first, pair.second}) {
            if (pair.reason != PairReason::ok || 2 * used[tile] >= all[tile]) continue;
            pair.reason = PairReason::outlier;
            is_any = true;
        }
    }
    return is_any;
}

void solve(const TileSet& set, const StitchRecipe& recipe, TileAlignment& alignment) {
    leave_out_contradictions(set, recipe, alignment);
    if (leave_out_strangers(set.tiles.size(), alignment.pairs)) leave_out_contradictions(set, recipe, alignment);
    double squares = 0, count = 0;
    for (const TilePair& pair : alignment.pairs) {
        if (pair.reason == PairReason::ok) squares += pair.error * pair.error, count += 1;
    }
    alignment.rms_voxels = count > 0 ? std::sqrt(squares / count) : 0;
}

void require_agreement(const TileSet& set, const TileAlignment& alignment) {
    if (2 * alignment.used() >= std::ssize(alignment.pairs)) return;
    std::vector<double> correlations, errors;
    for (const TilePair& pair : alignment.pairs) {
        correlations.push_back(pair.correlation);
        errors.push_back(pair.error);
    }
    const auto median = [](std::vector<double>& values) {
        std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
        return values[values.size() / 2];
    };
    throw Error(ErrorCode::bad_setting,
                fmt::format("only {} of {} overlaps agree: the median correlation is {:.2f}, the median distance from "
                            "a common solution {:.1f} voxels",
                            alignment.used(), alignment.pairs.size(), median(correlations), median(errors)),
                set.list.string(), "check the signs of x_mm and y_mm, then a larger `search`");
}

}  // namespace

double TileBrightness::field_db(double u, double v) const {
    const FieldTerms terms = terms_over_field(u, v);
    double sum = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) sum += field[i] * terms[i];
    return sum;
}

double TileBrightness::depth_db(double w) const {
    const DepthTerms terms = terms_over_depth(w);
    double sum = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) sum += depth[i] * terms[i];
    return sum;
}

std::int64_t TileAlignment::used() const {
    return std::ranges::count(pairs, PairReason::ok, &TilePair::reason);
}

namespace {

struct Candidate {
    std::size_t first = 0, second = 0;
    Overlap overlap;
};

std::vector<Candidate> candidates_of(const TileSet& set, const Shift3& search) {
    std::vector<Candidate> found;
    for (std::size_t i = 0; i < set.tiles.size(); ++i) {
        for (std::size_t j = i + 1; j < set.tiles.size(); ++j) {
            const auto overlap = overlap_of(set.tiles[i], set.tiles[j], search);
            if (overlap) found.push_back({i, j, *overlap});
        }
    }
    return found;
}

}  // namespace

std::int64_t bytes_of_overlaps(const TileSet& set, const StitchRecipe& recipe) {
    std::int64_t most = 0;
    for (const Candidate& one : candidates_of(set, search_of(set, recipe))) most = std::max(most, one.overlap.voxels());
    constexpr std::int64_t copies = 8;  // power, features, their slow part and half resolution of both tiles
    return copies * 4 * most;
}

TileAlignment aligned_tiles(const TileSet& set, const StitchRecipe& recipe, Progress& progress) {
    check(recipe, "stitch");
    require_memory(bytes_of_overlaps(set, recipe), "the largest overlap", "use a smaller stitch.search_um");
    const Shift3 search = search_of(set, recipe);
    const std::vector<Candidate> candidates = candidates_of(set, search);
    TileAlignment alignment;
    std::vector<BlockDifference> blocks;
    double most_voxels = 1;
    for (const Candidate& one : candidates)
        most_voxels = std::max(most_voxels, static_cast<double>(one.overlap.voxels()));
    progress.begin("register overlaps", std::ssize(candidates), "overlaps");
    for (const Candidate& one : candidates) {
        const Tile &a = set.tiles[one.first], &b = set.tiles[one.second];
        const TileBox first = TileReader(a).read(one.overlap.first), second = TileReader(b).read(one.overlap.second);
        TilePair pair = registered(one.overlap, first, second, search, recipe);
        pair.first = one.first;
        pair.second = one.second;
        pair.weight = pair.correlation * pair.correlation * static_cast<double>(one.overlap.voxels()) / most_voxels;
        if (pair.reason == PairReason::ok) add_blocks(a, b, first, second, pair, alignment.pairs.size(), blocks);
        alignment.pairs.push_back(pair);
        progress.advance(1);
    }
    progress.end();
    if (alignment.pairs.empty()) {
        throw Error(ErrorCode::bad_setting, "no two tiles overlap by 6 voxels along each axis", set.list.string(),
                    "record tiles that overlap by a tenth or more");
    }
    solve(set, recipe, alignment);
    require_agreement(set, alignment);
    alignment.brightness = fitted_brightness(set.tiles.size(), alignment.pairs, blocks);
    if (!recipe.equalise) {
        const double before = alignment.brightness.before_db;
        alignment.brightness = {};
        alignment.brightness.gain_db.assign(set.tiles.size(), 0);
        alignment.brightness.before_db = alignment.brightness.after_db = before;
    }
    return alignment;
}

}  // namespace echolux
