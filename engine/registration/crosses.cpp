#include "engine/registration/crosses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "compute/counted.h"
#include "compute/error.h"
#include "compute/parallel_for.h"
#include "compute/plan/params.h"
#include "engine/registration/features.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

constexpr std::int64_t wide = 4, narrow = 1;       // A-scans on either side that are averaged in a profile
constexpr std::int64_t lateral = 8, near_by = 10;  // search range for the same speckle: A-scans and lines; depth rows
constexpr float least_correlation = 0.3F;
constexpr double apart = 0.75;       // depth rows; max distance of agreeing crossings from their median
constexpr std::int64_t many = 16;    // crosses to use; more do not improve the result
constexpr std::int64_t bridged = 8;  // B-scans; longer gaps are not bridged
constexpr std::int64_t fewest = 2;   // min number of B-scans to align

// Returns means over `half` A-scans on either side of each, with mean 0 over depth and norm 1; 0 where the input is 0.
std::vector<float> profiles(const RowFeatures& features, std::int64_t row, std::int64_t half) {
    const std::int64_t depth = features.depth;
    std::vector<float> all(static_cast<std::size_t>(depth * features.a_scans), 0.0F);
    for (std::int64_t a = 0; a < features.a_scans; ++a) {
        const std::span<float> sum(all.data() + a * depth, static_cast<std::size_t>(depth));
        for (std::int64_t i = std::max<std::int64_t>(0, a - half); i <= std::min(features.a_scans - 1, a + half); ++i) {
            const float* line = features.row(row) + i * depth;
            for (std::size_t z = 0; z < sum.size(); ++z) sum[z] += line[z];
        }
        double mean = 0, square = 0;
        for (const float value : sum) mean += static_cast<double>(value) / static_cast<double>(depth);
        for (float& value : sum) {
            value -= static_cast<float>(mean);
            square += static_cast<double>(value) * static_cast<double>(value);
        }
        const auto scale = square > 0 ? static_cast<float>(1 / std::sqrt(square)) : 0.0F;
        for (float& value : sum) value *= scale;
    }
    return all;
}

// Converts point `index` of `count` evenly spaced points of the field to an index of `others` such points.
double place(std::int64_t index, std::int64_t count, std::int64_t others) {
    return (static_cast<double>(index) + 0.5) / static_cast<double>(count) * static_cast<double>(others) - 0.5;
}

// Returns the offset of the vertex of a parabola through three samples, within half a sample.
double parabola(float below, float at, float above) {
    const double curve = static_cast<double>(below) - 2 * static_cast<double>(at) + static_cast<double>(above);
    if (!(curve < 0)) return 0;
    return std::clamp(static_cast<double>(below - above) / (2 * curve), -0.5, 0.5);
}

// Shift of a B-scan against a cross at their intersection, in samples.
struct Crossing {
    double z = 0, x = 0;
    float correlation = 0;
};

// Profiles of the crosses, to which B-scans of the raster are matched.
class Crosses {
  public:
    Crosses(const RowFeatures& features, const RegistrationSettings& settings)
        : features_(features), settings_(settings), rows_(features.rows - settings.crosses) {
        const std::int64_t step = (settings.crosses + many - 1) / many;
        for (std::int64_t k = step / 2; k < settings.crosses; k += step)
            lines_.push_back({k, profiles(features, k, wide), profiles(features, k, narrow)});
    }

    std::int64_t count() const { return std::ssize(lines_); }

    // Returns the crossings of B-scan `j` of the raster with each cross; nullopt: no match.
    std::vector<std::optional<Crossing>> of_row(std::int64_t j) const {
        const std::int64_t row = settings_.crosses + j;
        if (features_.norms[static_cast<std::size_t>(row)] == 0)
            return std::vector<std::optional<Crossing>>(lines_.size());
        const std::vector<float> wide_here = profiles(features_, row, wide), here = profiles(features_, row, narrow);
        std::vector<std::optional<Crossing>> all;
        for (const Line& line : lines_) all.push_back(crossing(line, j, wide_here, here));
        return all;
    }

  private:
    struct Line {
        std::int64_t number;
        std::vector<float> wide, narrow;
    };

    const float* of(const std::vector<float>& all, std::int64_t a) const { return all.data() + a * features_.depth; }
    float correlation(const float* here, const float* there, std::int64_t shift) const {
        return overlap_product(there, here, features_.depth, 1, shift, 0);
    }

    // Matches the layers first and then the speckle around that depth. Rejects weak matches and those at the end of the
    // search range.
    std::optional<Crossing> crossing(const Line& line, std::int64_t j, const std::vector<float>& wide_here,
                                     const std::vector<float>& here) const {
        const std::int64_t a_scans = features_.a_scans;
        const double at_x = place(line.number, settings_.crosses, a_scans);
        const std::int64_t column = std::lround(at_x);
        const auto line_at = [&](std::int64_t row) { return std::lround(place(row, rows_, a_scans)); };
        const std::int64_t layers = best_shift(of(wide_here, column), of(line.wide, line_at(j)));
        struct {
            float height = -1;
            std::int64_t z = 0, a = 0, j = 0;
        } best;
        const std::int64_t reach_x = std::min(lateral, settings_.lateral_range);
        const std::int64_t reach_y = std::min(lateral, settings_.row_range);
        for (std::int64_t row = std::max<std::int64_t>(0, j - reach_y); row <= std::min(rows_ - 1, j + reach_y);
             ++row) {
            const float* there = of(line.narrow, line_at(row));
            for (std::int64_t a = std::max<std::int64_t>(0, column - reach_x);
                 a <= std::min(a_scans - 1, column + reach_x); ++a) {
                for (std::int64_t z = layers - near_by; z <= layers + near_by; ++z) {
                    const float height = correlation(of(here, a), there, z);
                    if (height > best.height) best = {height, z, a, row};
                }
            }
        }
        const bool is_at_the_end = std::abs(best.z - layers) == near_by ||
                                   (std::abs(best.a - column) == reach_x && reach_x > 0) ||
                                   (std::abs(best.j - j) == reach_y && reach_y > 0);
        if (best.height < least_correlation || is_at_the_end) return {};
        const float* there = of(line.narrow, line_at(best.j));
        const auto at = [&](std::int64_t a, std::int64_t z) { return correlation(of(here, a), there, z); };
        Crossing found{static_cast<double>(best.z), at_x - static_cast<double>(best.a), best.height};
        found.z += parabola(at(best.a, best.z - 1), best.height, at(best.a, best.z + 1));
        if (best.a > 0 && best.a + 1 < a_scans)
            found.x -= parabola(at(best.a - 1, best.z), best.height, at(best.a + 1, best.z));
        return found;
    }

    std::int64_t best_shift(const float* here, const float* there) const {
        float height = -1;
        std::int64_t best = 0;
        for (std::int64_t z = -settings_.axial_range; z <= settings_.axial_range; ++z) {
            const float one = correlation(here, there, z);
            if (one > height) {
                height = one;
                best = z;
            }
        }
        return best;
    }

    const RowFeatures& features_;
    const RegistrationSettings& settings_;
    std::int64_t rows_;
    std::vector<Line> lines_;
};

double median(std::vector<double> values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

using Table = std::vector<std::vector<std::optional<Crossing>>>;  // [row][cross]

// Removes the offset of each cross in `part` from the others, since each was scanned at another time. Alternates
// between medians over rows and over crosses.
void join(Table& table, double Crossing::*part) {
    constexpr int passes = 3;
    for (int pass = 0; pass < passes; ++pass) {
        std::vector<std::vector<double>> off(table.front().size());
        for (const auto& row : table) {
            std::vector<double> here;
            for (const auto& one : row) {
                if (one) here.push_back(*one.*part);
            }
            if (here.size() < 2) continue;
            const double middle = median(here);
            for (std::size_t k = 0; k < row.size(); ++k) {
                if (row[k]) off[k].push_back(*row[k].*part - middle);
            }
        }
        for (std::size_t k = 0; k < off.size(); ++k) {
            if (off[k].empty()) continue;
            const double shift = median(off[k]);
            for (auto& row : table) {
                if (row[k]) *row[k].*part -= shift;
            }
        }
    }
}

// Returns the mean of the crossings that agree in depth; nullopt if fewer than half of them do.
std::optional<Crossing> agreed(const std::vector<std::optional<Crossing>>& row) {
    std::vector<double> depths;
    for (const auto& one : row) {
        if (one) depths.push_back(one->z);
    }
    if (depths.empty()) return {};
    const double middle = median(depths);
    Crossing sum;
    int count = 0;
    for (const auto& one : row) {
        if (!one || std::abs(one->z - middle) > apart) continue;
        sum = {sum.z + one->z, sum.x + one->x, sum.correlation + one->correlation};
        ++count;
    }
    if (2 * count < std::ssize(row)) return {};
    return Crossing{sum.z / count, sum.x / count, sum.correlation / static_cast<float>(count)};
}

// Removes wrong matches: those whose difference from the neighbours' shifts deviates from the B-scans around them.
void drop_mistaken(std::vector<std::optional<Crossing>>& found, const std::vector<RowShift>& neighbours) {
    constexpr std::int64_t around = 3;
    const std::vector<std::optional<Crossing>> all = found;
    const auto is_mistaken = [&](std::size_t at, double Crossing::*part, double RowShift::*of_neighbours, double most) {
        const auto j = static_cast<std::int64_t>(at);
        const auto off = [&](std::size_t i) { return *all[i].*part - neighbours[i].*of_neighbours; };
        std::vector<double> near;
        for (std::int64_t i = std::max<std::int64_t>(0, j - around); i <= std::min(std::ssize(all) - 1, j + around);
             ++i) {
            if (all[static_cast<std::size_t>(i)]) near.push_back(off(static_cast<std::size_t>(i)));
        }
        return std::abs(off(at) - median(std::move(near))) > most;
    };
    for (std::size_t j = 0; j < all.size(); ++j) {
        if (!all[j]) continue;
        if (is_mistaken(j, &Crossing::z, &RowShift::z, 1) || is_mistaken(j, &Crossing::x, &RowShift::x, 2))
            found[j].reset();
    }
}

// Stores a match in a row.
void set(RowShift& row, const Crossing& found) {
    row.z = found.z;
    row.x = found.x;
    row.y = 0;
    row.quality = static_cast<double>(found.correlation);
    row.reason = RowReason::ok;
}

// Marks the row as not matched. Keeps the reason of a row that was invalid before.
void lose(RowShift& row) {
    row.quality = 0;
    if (row.is_valid()) row.reason = RowReason::weak_match;
}

// Interpolates the rows between `begin` and `end`, which were both found, by the neighbours' shifts and the drift
// between the two. Longer or open gaps become invalid.
void bridge(std::span<RowShift> rows, const std::vector<std::optional<Crossing>>& found, std::int64_t begin,
            std::int64_t end, const std::vector<RowShift>& neighbours) {
    const auto off = [&](std::int64_t j) {
        const auto at = static_cast<std::size_t>(j);
        return std::pair(found[at]->z - neighbours[at].z, found[at]->x - neighbours[at].x);
    };
    const bool is_gap_short = begin >= 0 && end < std::ssize(rows) && end - begin <= bridged;
    for (std::int64_t j = begin + 1; j < end; ++j) {
        RowShift& row = rows[static_cast<std::size_t>(j)];
        if (!is_gap_short || !row.is_valid()) {
            lose(row);
            continue;
        }
        const double part = static_cast<double>(j - begin) / static_cast<double>(end - begin);
        const auto [z0, x0] = off(begin);
        const auto [z1, x1] = off(end);
        row.z += z0 + part * (z1 - z0);
        row.x += x0 + part * (x1 - x0);
        row.y = 0;
    }
}

// Throws if too few B-scans are left after the crosses.
void require_others(std::int64_t b_scans, std::int64_t crosses) {
    if (crosses >= 0 && b_scans - crosses >= fewest) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("{} of {} run across: too few are left to align", crosses, counted(b_scans, "B-scans")),
                "registration.crosses", "say how many of a volume's first B-scans run across the others");
}

// Returns whether a volume was scanned with protocol raster_cross.
bool has_crosses(const std::map<std::string, std::string>& provenance) {
    const auto protocol = provenance.find("scan.protocol");
    return protocol != provenance.end() && protocol->second == "\"raster_cross\"";
}

}  // namespace

void align_to_crosses(std::vector<RowShift>& rows, const RowFeatures& features, const RegistrationSettings& settings,
                      Progress& progress) {
    const std::int64_t count = features.rows - settings.crosses;
    require_others(features.rows, settings.crosses);
    const Crosses crosses(features, settings);
    Table table(static_cast<std::size_t>(count));
    constexpr std::int64_t together = 16;
    for (std::int64_t first = 0; first < count; first += together) {
        progress.advance(0);  // throws if cancelled
        parallel_for(first, std::min(first + together, count),
                     [&](std::int64_t j) { table[static_cast<std::size_t>(j)] = crosses.of_row(j); });
    }
    join(table, &Crossing::z);
    join(table, &Crossing::x);
    std::vector<std::optional<Crossing>> found;
    for (const auto& row : table) found.push_back(agreed(row));
    for (std::int64_t k = 0; k < settings.crosses; ++k) rows[static_cast<std::size_t>(k)] = {.quality = 1};
    const std::vector<RowShift> neighbours(rows.begin() + settings.crosses, rows.end());
    drop_mistaken(found, neighbours);
    const std::span raster(rows.begin() + settings.crosses, rows.end());
    if (2 * std::ranges::count_if(found, [](const auto& one) { return one.has_value(); }) < count) {
        std::ranges::for_each(raster, lose);
        return;
    }
    std::int64_t last = -1;
    for (std::int64_t j = 0; j <= count; ++j) {
        if (j < count && !found[static_cast<std::size_t>(j)]) continue;
        bridge(raster, found, last, j, neighbours);
        if (j < count) set(raster[static_cast<std::size_t>(j)], *found[static_cast<std::size_t>(j)]);
        last = j;
    }
}

std::int64_t crosses_of(const std::map<std::string, std::string>& provenance) {
    if (!has_crosses(provenance)) return 0;
    ScanGeometry scan;
    Settings settings;
    settings.bind("scan", scan);
    try {
        if (const auto told = provenance.find("scan.crosses"); told != provenance.end())
            settings.set(told->first, told->second);
    } catch (const Error& error) {
        throw Error(ErrorCode::bad_file, "scan.crosses in its provenance: " + error.problem(), "registration",
                    "give registration.crosses");
    }
    return scan.crosses;
}

PowerVolume raster_of(const Volume& volume) {
    return without_crosses(power_of(volume), crosses_of(volume.provenance));
}

void forget_crosses(std::map<std::string, std::string>& provenance) {
    if (has_crosses(provenance)) provenance.erase("scan.protocol");
}

PowerVolume without_crosses(PowerVolume volume, std::int64_t crosses) {
    if (crosses == 0) return volume;
    require_others(volume.grid.b_scans, crosses);
    volume.grid.b_scans -= crosses;
    volume.power.erase(volume.power.begin(), volume.power.begin() + crosses * volume.grid.a_scans * volume.grid.depth);
    return volume;
}

}  // namespace echolux
