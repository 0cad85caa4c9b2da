#include "engine/flow/cross_section.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "engine/flow/time_series.h"

namespace echolux {

// ---- Describes the settings of the cross-section and names the reasons for missing flow.

template <>
const std::vector<Field<CrossSectionRecipe>>& describe<CrossSectionRecipe>() {
    using R = CrossSectionRecipe;
    constexpr Effect effect = Effect::view;
    static const std::vector<Field<R>> fields{
        number("significance", &R::significance, 0.5, 100, "", effect,
               "min velocity of the lumen, in standard deviations of the noise"),
        number("reach_um", &R::reach_um, 0.1, 1e4, "um", effect, "search radius around the point"),
        number("course_um", &R::course_um, 1, 1e5, "um", effect,
               "length on either side of the point over which the vessel axis is fitted"),
        number("thickness_um", &R::thickness_um, 0, 1e5, "um", effect,
               "length of the vessel over which flow is averaged; 0: a single plane"),
        number("margin_um", &R::margin_um, 0, 1000, "um", effect,
               "margin around the lumen that is included in the sum, because the beam blurs its edge"),
        number("min_tilt_deg", &R::min_tilt_deg, 0.1, 45, "deg", effect,
               "minimum tilt from the en-face plane; flow in flatter vessels is not reported"),
        number("angle_error_deg", &R::angle_error_deg, 0, 45, "deg", effect,
               "uncertainty of the vessel axis in addition to that of the fit: refraction, spacings"),
        number("min_snr_db", &R::min_snr_db, -20, 60, "dB", effect,
               "minimum mean SNR of the lumen, if the structure is given; below it, flow is not reported"),
        number("heart_min_hz", &R::heart_min_hz, 0.01, 100, "Hz", effect, "minimum heart rate searched"),
        number("heart_max_hz", &R::heart_max_hz, 0.01, 100, "Hz", effect, "maximum heart rate searched"),
    };
    return fields;
}

const char* name_of(FlowReason reason) {
    switch (reason) {
        case FlowReason::ok: return "ok";
        case FlowReason::no_signal: return "no_signal";
        case FlowReason::angle: return "angle";
        case FlowReason::wrapped: return "wrapped";
        case FlowReason::out_of_range: return "out_of_range";
        case FlowReason::too_few: return "too_few";
    }
    return "";
}

// ---- Finds a vessel: the connected moving voxels around a point.

namespace {

struct Lumen {
    std::vector<std::uint8_t> inside;  // 1 inside, over the whole volume
    VoxelPosition start;               // the given point or the moving voxel nearest to it
};

constexpr double min_share_of_v_max = 0.005;   // min speed that counts as moving, even without noise
constexpr double min_share_of_fastest = 0.01;  // relative to the fastest voxel of the volume
// Relative to the fastest voxel nearby; slower voxels are blur of the beam and windows.
constexpr double rim_share = 0.1;

using Voxel3 = std::array<std::int64_t, 3>;  // depth, A-scan, B-scan

// The search volume and the speed above which voxels move.
struct LumenSearch {
    const VolumeGrid& grid;
    const std::vector<float>& speed;
    // mm/s; faster voxels move
    float least;

    Voxel3 size() const { return {grid.depth, grid.a_scans, grid.b_scans}; }
    std::size_t index(const Voxel3& v) const {
        return static_cast<std::size_t>((v[2] * grid.a_scans + v[1]) * grid.depth + v[0]);
    }
    bool moves(const Voxel3& v) const { return std::abs(speed[index(v)]) > least; }
};

Voxel3 voxel_of(std::int64_t index, const VolumeGrid& grid) {
    return {index % grid.depth, index / grid.depth % grid.a_scans, index / grid.depth / grid.a_scans};
}

// Calls use(voxel, distance in um) for the voxels within `reach_um` of the point along each axis.
template <class Use>
void each_near(const LumenSearch& search, const Voxel3& point, double reach_um, const Use& use) {
    Voxel3 low{}, high{};
    for (std::size_t k = 0; k < 3; ++k) {
        const auto steps = static_cast<std::int64_t>(reach_um / search.grid.spacing_um[k]);
        low[k] = std::max<std::int64_t>(0, point[k] - steps);
        high[k] = std::min(search.size()[k] - 1, point[k] + steps);
    }
    for (std::int64_t b = low[2]; b <= high[2]; ++b) {
        for (std::int64_t a = low[1]; a <= high[1]; ++a) {
            for (std::int64_t z = low[0]; z <= high[0]; ++z) {
                const Voxel3 here{z, a, b};
                double square = 0;
                for (std::size_t k = 0; k < 3; ++k)
                    square += std::pow(static_cast<double>(here[k] - point[k]) * search.grid.spacing_um[k], 2);
                use(here, std::sqrt(square));
            }
        }
    }
}

// Returns the moving voxel nearest to the point.
std::optional<Voxel3> nearest(const LumenSearch& search, const Voxel3& point, double reach_um) {
    std::optional<Voxel3> best;
    double best_um = reach_um;
    each_near(search, point, reach_um, [&](const Voxel3& here, double um) {
        if (um >= best_um || !search.moves(here)) return;
        best = here;
        best_um = um;
    });
    return best;
}

// Returns the largest speed within `reach_um` of the point, in mm/s.
float fastest_near(const LumenSearch& search, const Voxel3& point, double reach_um) {
    float fastest = 0;
    each_near(search, point, reach_um, [&](const Voxel3& here, double) {
        fastest = std::max(fastest, std::abs(search.speed[search.index(here)]));
    });
    return fastest;
}

// Returns the fastest voxel of the middle B-scan, from where the vessel can be followed both ways.
Voxel3 fastest(const LumenSearch& search) {
    const std::int64_t plane = search.grid.depth * search.grid.a_scans;
    const std::int64_t middle = search.grid.b_scans / 2;
    const auto first = search.speed.begin() + middle * plane;
    const auto slower = [](float a, float b) { return std::abs(a) < std::abs(b); };
    const auto found = std::max_element(first, first + plane, slower);
    return voxel_of(found - search.speed.begin(), search.grid);
}

// Returns the voxel at a position. Throws Error{bad_setting} with the name of the setting if it is outside the volume.
std::array<std::int64_t, 3> voxel_at(const VolumeGrid& grid, const VoxelPosition& place, const char* setting) {
    const std::array<std::int64_t, 3> voxel{std::llround(place.row), std::llround(place.a_scan),
                                            std::llround(place.b_scan)};
    const std::array<std::int64_t, 3> size{grid.depth, grid.a_scans, grid.b_scans};
    for (std::size_t k = 0; k < 3; ++k) {
        if (voxel[k] >= 0 && voxel[k] < size[k]) continue;
        throw Error(ErrorCode::bad_setting,
                    fmt::format("the point {},{},{} is outside the volume of {} x {} x {}", place.a_scan, place.b_scan,
                                place.row, grid.a_scans, grid.b_scans, grid.depth),
                    setting, "A-scan, B-scan and depth row are counted from 0");
    }
    return voxel;
}

// Returns the connected voxels that move faster than noise, within recipe.course_um of the point along each axis.
// Without a point, starts at the fastest voxel of the middle B-scan. Throws Error{bad_setting} if the point is outside
// the volume or nothing moves near it.
Lumen lumen_around(const VolumeGrid& grid, const MeanVelocity& mean, const CrossSectionRecipe& recipe,
                   const std::optional<VoxelPosition>& point) {
    float most = 0;
    for (const float one : mean.mm_s) most = std::max(most, std::abs(one));
    const double least = std::max({recipe.significance * mean.noise_mm_s, min_share_of_v_max * v_max_of(grid),
                                   min_share_of_fastest * static_cast<double>(most)});
    LumenSearch search{grid, mean.mm_s, static_cast<float>(std::max(least, 1e-9))};
    Voxel3 start = point ? voxel_at(grid, *point, "through") : fastest(search);
    const std::optional<Voxel3> found = nearest(search, start, point ? recipe.reach_um : 1);
    if (!found) {
        throw Error(ErrorCode::bad_setting,
                    point ? fmt::format("no flow above the noise within {:g} um of the point ({:.2g} mm/s)",
                                        recipe.reach_um, least)
                          : std::string("no flow above the noise in the middle B-scan"),
                    "through", "inspect the velocities with `render` and choose a point inside a vessel");
    }
    start = *found;
    search.least = std::max(search.least, static_cast<float>(rim_share) * fastest_near(search, start, recipe.reach_um));
    Lumen lumen{std::vector<std::uint8_t>(mean.mm_s.size()),
                {static_cast<double>(start[1]), static_cast<double>(start[2]), static_cast<double>(start[0])}};
    std::vector<Voxel3> open{start};
    lumen.inside[search.index(start)] = 1;
    while (!open.empty()) {
        const Voxel3 here = open.back();
        open.pop_back();
        for (std::size_t k = 0; k < 3; ++k) {
            for (const std::int64_t step : {-1, 1}) {
                Voxel3 next = here;
                next[k] += step;
                if (next[k] < 0 || next[k] >= search.size()[k]) continue;
                if (static_cast<double>(std::abs(next[k] - start[k])) * grid.spacing_um[k] > recipe.course_um) continue;
                auto& mark = lumen.inside[search.index(next)];
                if (mark != 0 || !search.moves(next)) continue;
                mark = 1;
                open.push_back(next);
            }
        }
    }
    return lumen;
}

}  // namespace

// ---- Quantities of a vessel other than the flow through its sections.

// Returns the centres of whole planes in the direction of flow, in um.
std::vector<std::array<double, 3>> VesselFlow::centres() const {
    const GridPlanes planes(grid_, course_.across);
    std::vector<std::array<double, 3>> all;
    for (std::size_t k = 0; k < planes_.size(); ++k) {
        if (planes_[k].is_cut) continue;
        std::array<double, 3> centre{};
        centre.at(index(course_.across)) = static_cast<double>(planes_[k].number) * planes.spacing(course_.across);
        centre.at(index(planes.in[0])) = planes_[k].column * planes.spacing(planes.in[0]);
        centre.at(index(planes.in[1])) = planes_[k].row * planes.spacing(planes.in[1]);
        all.push_back(centre);
    }
    if (course_.direction.at(index(course_.across)) < 0) std::ranges::reverse(all);
    return all;
}

std::vector<std::array<double, 3>> VesselFlow::course_points() const {
    constexpr std::int64_t reach = 2;  // planes on either side; fewer near the ends so that these stay in place
    const std::vector<std::array<double, 3>> raw = centres();
    std::vector<std::array<double, 3>> smooth;
    for (std::int64_t i = 0; i < std::ssize(raw); ++i) {
        const std::int64_t half = std::min({reach, i, std::ssize(raw) - 1 - i});
        std::array<double, 3> mean{};
        for (std::int64_t k = i - half; k <= i + half; ++k) {
            for (std::size_t c = 0; c < 3; ++c) mean[c] += raw[index(k)][c] / static_cast<double>(2 * half + 1);
        }
        smooth.push_back(mean);
    }
    return smooth;
}

std::vector<double> VesselFlow::arrows(std::int64_t count) const {
    constexpr double shaft = 0.7;  // length relative to the distance between arrows
    const std::vector<std::array<double, 3>> along = centres();
    std::vector<double> all;
    if (along.size() < 2) return all;
    const double step = static_cast<double>(along.size() - 1) / static_cast<double>(count);
    for (std::int64_t i = 0; i < count; ++i) {
        for (const double part : {0.0, shaft}) {
            const auto at = index(std::lround((static_cast<double>(i) + part) * step));
            all.insert(all.end(), along[at].begin(), along[at].end());
        }
    }
    return all;
}

double VesselFlow::en_face_ul_s(const MeanVelocity& mean) const {
    const GridPlanes planes(grid_, 0);
    const std::array<double, 3> at = in_um(place_, grid_);
    std::vector<double> flows;
    for (std::int64_t row = 0; row < grid_.depth; ++row) {
        const LumenMask lumen = mask_in(inside_, planes, row);
        if (lumen.area() == 0 || lumen.touches_edge()) continue;
        bool is_whole = true;
        double sum = 0;
        const LumenMask counted =
            widened(lumen, recipe_.margin_um / grid_.spacing_um[1], recipe_.margin_um / grid_.spacing_um[2]);
        std::vector<float> velocities = values_in(mean.mm_s, planes, row);
        unwrap_plane(velocities, lumen, from_rim(lumen), v_max_of(grid_));
        for (std::int64_t j = 0; j < lumen.height; ++j) {
            for (std::int64_t i = 0; i < lumen.width; ++i) {
                if (!counted.at(i, j)) continue;
                sum += static_cast<double>(velocities[index(j * lumen.width + i)]);
                const double from_um =
                    std::max(std::abs(static_cast<double>(i) * grid_.spacing_um[1] - at[1]) + grid_.spacing_um[1],
                             std::abs(static_cast<double>(j) * grid_.spacing_um[2] - at[2]) + grid_.spacing_um[2]);
                if (lumen.at(i, j) && from_um > recipe_.course_um) is_whole = false;
            }
        }
        constexpr double um2_of_mm2 = 1e6;
        if (is_whole) flows.push_back(std::abs(sum) * planes.pixel_um2() / um2_of_mm2);
    }
    // A vessel that becomes level may look like a lumen that ends inside the volume. Planes then disagree.
    constexpr std::size_t enough = 5;
    constexpr double alike = 0.15;  // max interquartile range relative to the median
    if (flows.size() < enough) return std::numeric_limits<double>::quiet_NaN();
    std::ranges::sort(flows);
    const double median = flows[flows.size() / 2];
    const bool agree = flows[3 * flows.size() / 4] - flows[flows.size() / 4] < alike * median;
    return agree ? median : std::numeric_limits<double>::quiet_NaN();
}

double VesselFlow::mean_within(const std::vector<float>& power) const {
    const GridPlanes planes(grid_, course_.across);
    double sum = 0, count = 0;
    for (const Plane& plane : planes_) {
        for (std::int64_t j = 0; j < plane.lumen.height; ++j) {
            for (std::int64_t i = 0; i < plane.lumen.width; ++i) {
                if (!plane.lumen.at(i, j)) continue;
                const auto here = static_cast<double>(power[planes.voxel(plane.number, i, j)]);
                if (!std::isfinite(here)) continue;
                sum += here;
                count += 1;
            }
        }
    }
    return count == 0 ? 0 : sum / count;
}

constexpr double degrees = 180 / std::numbers::pi;
constexpr double max_torn = 0.1;     // share of torn pixel pairs beyond which unwrapping has failed
constexpr double max_unknown = 0.4;  // share of the lumen without velocities
// Relative to v_max; pure noise would give 0.3.
constexpr double max_noise = 0.22;
constexpr double max_angle_error = 0.5;  // relative
constexpr double smoothed_over = 3;      // MeanVelocity averages over this many planes, so that they share their noise
constexpr double ring_um = 2;
constexpr std::size_t min_planes = 5;  // min number of planes to fit a course

static double median_of(std::vector<double> values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// Returns the standard deviation of noise in flow values along a vessel. Second differences suppress the even changes
// of the flow itself; their variance is 6 times that of a single value (1 + 4 + 1).
static double scatter_of(const std::vector<FlowValue>& values) {
    std::vector<double> squares;
    for (std::size_t i = 1; i + 1 < values.size(); ++i) {
        const double difference = values[i - 1].flow_ul_s - 2 * values[i].flow_ul_s + values[i + 1].flow_ul_s;
        if (std::isfinite(difference)) squares.push_back(difference * difference / 6);
    }
    if (squares.empty()) return std::numeric_limits<double>::quiet_NaN();
    double sum = 0;
    for (const double square : squares) sum += square;
    return std::sqrt(sum / static_cast<double>(squares.size()));
}

VesselFlow::VesselFlow(const VolumeGrid& grid, const MeanVelocity& mean, const CrossSectionRecipe& recipe,
                       const std::optional<VoxelPosition>& through, const std::optional<VoxelPosition>& towards)
    : grid_(grid), recipe_(recipe), single_noise_(mean.single_mm_s) {
    find_lumen(mean, through);
    if (towards)
        take_course(*towards);
    else
        choose_axis();
    cut(mean);
    if (!towards) fit_course();
    if (reason_ == FlowReason::ok) orient();
}

void VesselFlow::find_lumen(const MeanVelocity& mean, const std::optional<VoxelPosition>& through) {
    Lumen lumen = lumen_around(grid_, mean, recipe_, through);
    inside_ = std::move(lumen.inside);
    place_ = lumen.start;
    if (v_max_of(grid_) > 0 && mean.single_mm_s > max_noise * v_max_of(grid_)) reason_ = FlowReason::no_signal;
}

// Chooses the axis along which the lumen spans the whole volume, if exactly one exists, otherwise the axis of its
// largest variance.
void VesselFlow::choose_axis() {
    std::array<double, 3> sum{}, square{};
    std::array<std::int64_t, 3> low{grid_.depth, grid_.a_scans, grid_.b_scans}, high{};
    const std::array<std::int64_t, 3> size = low;
    double count = 0;
    for (std::int64_t k = 0; k < grid_.voxels(); ++k) {
        if (inside_[index(k)] == 0) continue;
        const std::array<std::int64_t, 3> at{k % grid_.depth, k / grid_.depth % grid_.a_scans,
                                             k / grid_.depth / grid_.a_scans};
        count += 1;
        for (std::size_t a = 0; a < 3; ++a) {
            const double um = static_cast<double>(at[a]) * grid_.spacing_um[a];
            sum[a] += um;
            square[a] += um * um;
            low[a] = std::min(low[a], at[a]);
            high[a] = std::max(high[a], at[a]);
        }
    }
    int spanned = -1, spans = 0;
    std::size_t longest = 2;
    for (std::size_t a = 0; a < 3; ++a) {
        const auto variance = [&](std::size_t axis) { return square[axis] / count - std::pow(sum[axis] / count, 2); };
        if (variance(a) > variance(longest)) longest = a;
        if (low[a] > 0 || high[a] < size[a] - 1) continue;
        ++spans;
        spanned = static_cast<int>(a);
    }
    course_.across = spans == 1 ? spanned : static_cast<int>(longest);
}

void VesselFlow::take_course(const VoxelPosition& towards) {
    voxel_at(grid_, towards, "towards");
    const std::array<double, 3> from = in_um(place_, grid_), to = in_um(towards, grid_);
    std::array<double, 3> way{};
    double square = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        way[k] = to[k] - from[k];
        square += way[k] * way[k];
    }
    if (!(square > 0)) {
        throw Error(ErrorCode::bad_setting, "the two points that define the vessel axis are identical", "towards",
                    "choose another point on the vessel axis");
    }
    std::size_t most = 0;
    for (std::size_t k = 1; k < 3; ++k) {
        if (std::abs(way[k]) > std::abs(way[most])) most = k;
    }
    course_.across = static_cast<int>(most);
    course_.is_given = true;
    const GridPlanes planes(grid_, course_.across);
    for (std::size_t c = 0; c < 2; ++c) fit_[c] = {0, way.at(index(planes.in[c])) / way[most], 0};
}

// Follows the lumen from the point's plane in both directions, as long as each piece is close to the previous one.
void VesselFlow::cut(const MeanVelocity& mean) {
    const GridPlanes planes(grid_, course_.across);
    const std::array<double, 3> at{place_.row, place_.a_scan, place_.b_scan};
    const auto first = static_cast<std::int64_t>(at.at(index(course_.across)));
    double sign = 0;
    const auto add = [&](std::int64_t number, double column, double row) -> const Plane* {
        LumenMask lumen = piece_near(mask_in(inside_, planes, number), column, row, 8);
        if (lumen.area() == 0) return nullptr;
        fill_holes(lumen);
        std::vector<float> velocities = values_in(mean.mm_s, planes, number);
        unwrap_plane(velocities, lumen, from_rim(lumen), v_max_of(grid_));
        if (sign == 0) {
            double sum = 0;
            for (std::size_t k = 0; k < velocities.size(); ++k)
                sum += static_cast<double>(velocities[k]) * lumen.inside[k];
            sign = sum < 0 ? -1 : 1;
        }
        keep_faster(lumen, velocities, sign);
        lumen = piece_near(lumen, column, row, 1e9);
        if (lumen.area() == 0) return nullptr;
        fill_holes(lumen);
        const LumenCentre centre = centre_of(lumen, velocities, sign);
        Plane plane;
        plane.number = number;
        plane.order = from_rim(lumen);
        plane.row = centre.row;
        plane.column = centre.column;
        plane.is_cut = lumen.touches_edge();
        plane.counted = widened(lumen, recipe_.margin_um / planes.spacing(planes.in[0]),
                                recipe_.margin_um / planes.spacing(planes.in[1]));
        plane.rings = rings_of(lumen, plane.counted, planes, ring_um);
        plane.lumen = std::move(lumen);
        planes_.push_back(std::move(plane));
        return &planes_.back();
    };
    const Plane* start = add(first, at.at(index(planes.in[0])), at.at(index(planes.in[1])));
    if (start == nullptr) return;
    for (const std::int64_t step : {-1, 1}) {
        double column = planes_.front().column, row = planes_.front().row;
        for (std::int64_t number = first + step; number >= 0 && number < planes.count(); number += step) {
            const Plane* next = add(number, column, row);
            if (next == nullptr) break;
            column = next->column;
            row = next->row;
        }
    }
    std::ranges::sort(planes_, {}, &Plane::number);
    sign_ = sign;
}

// Fits the centres of whole planes of similar area. Fails if too few remain.
void VesselFlow::fit_course() {
    const GridPlanes planes(grid_, course_.across);
    const std::array<double, 3> at = in_um(place_, grid_);
    std::vector<double> s, columns, rows, areas;
    for (const Plane& plane : planes_) areas.push_back(static_cast<double>(plane.lumen.area()));
    for (std::size_t k = 0; k < planes_.size(); ++k) {
        constexpr double alike = 2;  // ratio to the median area
        const Plane& plane = planes_[k];
        const double area = areas[k] / median_of(areas);
        if (plane.is_cut || area > alike || area < 1 / alike) continue;
        s.push_back(static_cast<double>(plane.number) * planes.spacing(course_.across) - at.at(index(course_.across)));
        columns.push_back(plane.column * planes.spacing(planes.in[0]));
        rows.push_back(plane.row * planes.spacing(planes.in[1]));
    }
    course_.planes = std::ssize(s);
    if (s.size() < min_planes) {
        const auto cut_off = std::ranges::count_if(planes_, &Plane::is_cut);
        if (reason_ == FlowReason::ok)
            reason_ = 2 * cut_off > std::ssize(planes_) ? FlowReason::out_of_range : FlowReason::too_few;
        return;
    }
    const LineFit column = fitted_line(s, columns, smoothed_over), row = fitted_line(s, rows, smoothed_over);
    fit_ = {column.by_power, row.by_power};
    const double slope = row.by_power[1], sideways = column.by_power[1];
    if (course_.across != 0) {
        course_.tilt_error_deg = degrees * row.slope_error / (1 + slope * slope);
    } else {
        course_.tilt_error_deg = degrees * std::hypot(column.slope_error * sideways, row.slope_error * slope) /
                                 std::max(1e-9, std::hypot(sideways, slope));
    }
}

double VesselFlow::slope_at(int coordinate, double place_um) const {
    const auto& line = fit_.at(index(coordinate));
    return line[1] + 2 * line[2] * place_um;
}

// Combines the error of the fit with the part that the fit cannot show: refraction and spacings.
double VesselFlow::angle_error_deg() const {
    return std::hypot(course_.tilt_error_deg, recipe_.angle_error_deg);
}

// Computes direction and tilt of the course, and the factors of each plane from axial velocity to flow.
void VesselFlow::orient() {
    const GridPlanes planes(grid_, course_.across);
    const std::array<double, 3> at = in_um(place_, grid_);
    const auto direction_at = [&](double place_um) {
        std::array<double, 3> way{};
        way.at(index(course_.across)) = 1;
        for (std::size_t c = 0; c < 2; ++c) way.at(index(planes.in[c])) = slope_at(static_cast<int>(c), place_um);
        const double length = std::hypot(way[0], way[1], way[2]);
        for (double& one : way) one /= length;
        return way;
    };
    course_.direction = direction_at(0);
    const double downwards = course_.direction[0];
    course_.tilt_deg = degrees * std::asin(std::abs(downwards));
    const double tilt = course_.tilt_deg / degrees;
    const double uncertain = angle_error_deg() / degrees;
    angle_error_ = course_.across == 0 ? 0 : uncertain / std::max(1e-9, std::sin(tilt) * std::cos(tilt));
    if (course_.tilt_deg < recipe_.min_tilt_deg || angle_error_ > max_angle_error) {
        reason_ = FlowReason::angle;
        return;
    }
    // Positive axial velocity points away from zero delay, so blood that approaches zero delay rises.
    const double with_flow = downwards * sign_ < 0 ? -1 : 1;
    for (double& one : course_.direction) one *= with_flow;
    for (Plane& plane : planes_) {
        const double place_um =
            static_cast<double>(plane.number) * planes.spacing(course_.across) - at.at(index(course_.across));
        const std::array<double, 3> way = direction_at(place_um);
        const double down = way[0] * with_flow;
        plane.is_flat = degrees * std::asin(std::abs(way[0])) < recipe_.min_tilt_deg;
        plane.direction = 1 / down;
        plane.factor = sign_ * std::abs(way.at(index(course_.across)) / down);
    }
}

// Returns the power of each ring relative to the core of the lumen, at most 1: inside the lumen, power changes with
// depth and not because of blur.
std::map<std::int32_t, float> VesselFlow::blood_weights(const std::vector<float>& power) const {
    constexpr double core = 0.5;  // share of the largest ring number
    std::map<std::int32_t, float> weights;
    if (power.empty()) return weights;
    const GridPlanes planes(grid_, course_.across);
    std::map<std::int32_t, std::pair<double, double>> sums;
    for (const Plane& plane : planes_) {
        const std::vector<float> here = values_in(power, planes, plane.number);
        for (std::size_t k = 0; k < here.size(); ++k) {
            if (plane.is_cut || plane.rings[k] == no_ring || !std::isfinite(here[k])) continue;
            auto& [sum, count] = sums[plane.rings[k]];
            sum += static_cast<double>(here[k]);
            count += 1;
        }
    }
    if (sums.empty()) return weights;
    double sum = 0, count = 0;
    for (const auto& [ring, of_ring] : sums) {
        if (static_cast<double>(ring) < core * static_cast<double>(sums.rbegin()->first)) continue;
        sum += of_ring.first;
        count += of_ring.second;
    }
    for (const auto& [ring, of_ring] : sums)
        weights[ring] =
            static_cast<float>(std::min(1.0, of_ring.first / of_ring.second * count / std::max(sum, 1e-300)));
    return weights;
}

FlowValue VesselFlow::through_plane(const Plane& plane, const std::vector<float>& velocities,
                                    const std::map<std::int32_t, float>& weights) const {
    const GridPlanes planes(grid_, course_.across);
    FlowValue value;
    value.plane = plane.number;
    const std::array<double, 3> at = in_um(place_, grid_);
    value.place_um = static_cast<double>(plane.number) * planes.spacing(course_.across) - at.at(index(course_.across));
    const double b_scan = course_.across == 2   ? static_cast<double>(plane.number)
                          : course_.across == 1 ? plane.column
                                                : plane.row;
    value.when = (b_scan + 0.5) / static_cast<double>(grid_.b_scans);
    if (plane.is_cut || plane.is_flat) {
        value.reason = plane.is_cut ? FlowReason::out_of_range : FlowReason::angle;
        return value;
    }
    std::vector<float> here = values_in(velocities, planes, plane.number);
    const PlaneVelocities unwrapped = unwrap_plane(here, plane.lumen, plane.order, v_max_of(grid_));
    value.wrapped = unwrapped.unwrapped;
    if (unwrapped.unknown > max_unknown) value.reason = FlowReason::no_signal;
    if (unwrapped.torn > max_torn) value.reason = FlowReason::wrapped;
    if (value.reason != FlowReason::ok) return value;
    double sum = 0, within = 0;
    for (std::size_t k = 0; k < here.size(); ++k) {
        if (plane.counted.inside[k] == 0) continue;
        sum += static_cast<double>(here[k]) *
               (weights.empty() || plane.is_cut ? 1 : static_cast<double>(weights.at(plane.rings[k])));
        if (plane.lumen.inside[k] != 0) within += static_cast<double>(here[k]);
    }
    constexpr double um2_of_mm2 = 1e6;
    const double area = static_cast<double>(plane.lumen.area());
    value.flow_ul_s = plane.factor * sum * planes.pixel_um2() / um2_of_mm2;
    value.mean_mm_s = plane.direction * within / area;
    value.area_mm2 = area * planes.pixel_um2() / um2_of_mm2 * std::abs(plane.factor / plane.direction);
    return value;
}

std::vector<FlowValue> VesselFlow::along(const std::vector<float>& velocities, const std::vector<float>& power) const {
    std::vector<FlowValue> values;
    const std::map<std::int32_t, float> weights = blood_weights(power);
    for (const Plane& plane : planes_) values.push_back(through_plane(plane, velocities, weights));
    const double scatter = scatter_of(values);
    for (FlowValue& value : values) {
        if (value.reason == FlowReason::ok) value.error_ul_s = scatter;
    }
    return values;
}

FlowValue VesselFlow::section(const std::vector<FlowValue>& along) const {
    FlowValue mean;
    const double half = std::max(recipe_.thickness_um / 2, 1e-6);
    double count = 0, nearest_um = 1e300;
    double flow = 0, speed = 0, area = 0, wrapped = 0, when = 0, scatter = 0;
    for (const FlowValue& value : along) {
        if (std::abs(value.place_um) < nearest_um) {
            nearest_um = std::abs(value.place_um);
            mean.reason = value.reason;
        }
        if (std::abs(value.place_um) > half || value.reason != FlowReason::ok) continue;
        count += 1;
        flow += value.flow_ul_s;
        speed += value.mean_mm_s;
        area += value.area_mm2;
        wrapped += value.wrapped;
        when += value.when;
        scatter = value.error_ul_s;
    }
    if (along.empty()) mean.reason = FlowReason::no_signal;
    if (count == 0) return mean;
    constexpr double shared = 2;  // neighbouring planes share the same blood
    mean.reason = FlowReason::ok;
    mean.flow_ul_s = flow / count;
    mean.error_ul_s = scatter / std::sqrt(std::max(1.0, count / shared));
    mean.mean_mm_s = speed / count;
    mean.area_mm2 = area / count;
    mean.wrapped = wrapped / count;
    mean.when = when / count;
    return mean;
}

namespace {

constexpr std::int64_t reach = 2;  // half width of the neighbourhood in pixels

// Offset to one of the four neighbours of a pixel.
struct Step {
    std::int64_t i, j;
};
constexpr Step beside[] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};

// Calls use(pixel) for the lumen pixels around (i, j).
template <class Use>
void around(const LumenMask& mask, std::int64_t i, std::int64_t j, const Use& use) {
    for (std::int64_t y = j - reach; y <= j + reach; ++y) {
        for (std::int64_t x = i - reach; x <= i + reach; ++x) {
            if (mask.at(x, y)) use(index(y * mask.width + x));
        }
    }
}

// Returns the share of neighbouring pixels that differ by more than v_max / 2.
double torn_share(const std::vector<float>& velocities, const LumenMask& mask, double v_max) {
    std::int64_t pairs = 0, torn = 0;
    for (std::int64_t j = 0; j < mask.height; ++j) {
        for (std::int64_t i = 0; i < mask.width; ++i) {
            if (!mask.at(i, j)) continue;
            const auto here = index(j * mask.width + i);
            for (const Step& step : {Step{1, 0}, Step{0, 1}}) {
                if (!mask.at(i + step.i, j + step.j)) continue;
                const auto there = index((j + step.j) * mask.width + i + step.i);
                ++pairs;
                if (static_cast<double>(std::abs(velocities[here] - velocities[there])) > v_max / 2) ++torn;
            }
        }
    }
    return pairs == 0 ? 0 : static_cast<double>(torn) / static_cast<double>(pairs);
}

}  // namespace

std::int64_t LumenMask::area() const {
    return std::accumulate(inside.begin(), inside.end(), std::int64_t{0});
}

bool LumenMask::touches_edge() const {
    for (std::int64_t i = 0; i < width; ++i) {
        if (at(i, 0) || at(i, height - 1)) return true;
    }
    for (std::int64_t j = 0; j < height; ++j) {
        if (at(0, j) || at(width - 1, j)) return true;
    }
    return false;
}

void fill_holes(LumenMask& mask) {
    std::vector<std::uint8_t> outside(mask.inside.size());
    std::vector<Step> open;
    // Flood fill from the border of the plane; the lumen is everything that it does not reach.
    const auto enter = [&](std::int64_t i, std::int64_t j) {
        if (i < 0 || j < 0 || i >= mask.width || j >= mask.height || mask.at(i, j)) return;
        auto& seen = outside[index(j * mask.width + i)];
        if (seen == 0) open.push_back({i, j});
        seen = 1;
    };
    for (std::int64_t i = 0; i < mask.width; ++i) enter(i, 0), enter(i, mask.height - 1);
    for (std::int64_t j = 0; j < mask.height; ++j) enter(0, j), enter(mask.width - 1, j);
    while (!open.empty()) {
        const Step here = open.back();
        open.pop_back();
        for (const Step& step : beside) enter(here.i + step.i, here.j + step.j);
    }
    for (std::size_t k = 0; k < outside.size(); ++k) mask.inside[k] = outside[k] == 0 ? 1 : 0;
}

LumenMask widened(const LumenMask& mask, double columns, double rows) {
    LumenMask wide = mask;
    const auto di = static_cast<std::int64_t>(columns), dj = static_cast<std::int64_t>(rows);
    for (std::int64_t j = 0; j < mask.height; ++j) {
        for (std::int64_t i = 0; i < mask.width; ++i) {
            const bool is_rim =
                mask.at(i, j) && !(mask.at(i - 1, j) && mask.at(i + 1, j) && mask.at(i, j - 1) && mask.at(i, j + 1));
            if (!is_rim) continue;
            for (std::int64_t y = std::max<std::int64_t>(0, j - dj); y <= std::min(mask.height - 1, j + dj); ++y) {
                for (std::int64_t x = std::max<std::int64_t>(0, i - di); x <= std::min(mask.width - 1, i + di); ++x) {
                    const double u = static_cast<double>(x - i) / std::max(columns, 1e-9);
                    const double v = static_cast<double>(y - j) / std::max(rows, 1e-9);
                    if (u * u + v * v <= 1) wide.inside[index(y * mask.width + x)] = 1;
                }
            }
        }
    }
    return wide;
}

std::vector<std::int64_t> from_rim(const LumenMask& mask) {
    std::vector<std::int64_t> order;
    std::vector<std::uint8_t> taken(mask.inside.size());
    const auto take = [&](std::int64_t i, std::int64_t j) {
        const std::int64_t pixel = j * mask.width + i;
        if (!mask.at(i, j) || taken[index(pixel)] != 0) return;
        taken[index(pixel)] = 1;
        order.push_back(pixel);
    };
    for (std::int64_t j = 0; j < mask.height; ++j) {
        for (std::int64_t i = 0; i < mask.width; ++i) {
            for (const Step& step : beside) {
                if (!mask.at(i + step.i, j + step.j)) take(i, j);
            }
        }
    }
    for (std::size_t next = 0; next < order.size(); ++next) {
        const std::int64_t i = order[next] % mask.width, j = order[next] / mask.width;
        for (const Step& step : beside) take(i + step.i, j + step.j);
    }
    return order;
}

PlaneVelocities unwrap_plane(std::vector<float>& velocities, const LumenMask& mask,
                             const std::vector<std::int64_t>& order, double v_max) {
    PlaneVelocities result;
    std::vector<std::uint8_t> known(velocities.size());
    std::int64_t turned = 0, missing = 0;
    for (const std::int64_t pixel : order) {
        const auto here = index(pixel);
        if (velocities[here] == 0) continue;
        double sum = 0, count = 0;
        around(mask, pixel % mask.width, pixel / mask.width, [&](std::size_t k) {
            if (known[k] == 0) return;
            sum += static_cast<double>(velocities[k]);
            count += 1;
        });
        known[here] = 1;
        if (v_max <= 0 || count == 0) continue;
        const double turns = std::round((sum / count - static_cast<double>(velocities[here])) / (2 * v_max));
        velocities[here] += static_cast<float>(turns * 2 * v_max);
        if (turns != 0) ++turned;
    }
    // Fill pixels without a velocity from their neighbours.
    for (const std::int64_t pixel : order) {
        const auto here = index(pixel);
        if (known[here] != 0) continue;
        ++missing;
        double sum = 0, count = 0;
        around(mask, pixel % mask.width, pixel / mask.width, [&](std::size_t k) {
            if (known[k] == 0) return;
            sum += static_cast<double>(velocities[k]);
            count += 1;
        });
        if (count > 0) velocities[here] = static_cast<float>(sum / count);
    }
    const auto all = static_cast<double>(std::max<std::size_t>(order.size(), 1));
    result.unwrapped = static_cast<double>(turned) / all;
    result.unknown = static_cast<double>(missing) / all;
    if (v_max > 0) result.torn = torn_share(velocities, mask, v_max);
    return result;
}

LumenMask mask_in(const std::vector<std::uint8_t>& inside, const GridPlanes& planes, std::int64_t number) {
    LumenMask mask{planes.width(), planes.height(), {}};
    for (std::int64_t j = 0; j < mask.height; ++j) {
        for (std::int64_t i = 0; i < mask.width; ++i) mask.inside.push_back(inside[planes.voxel(number, i, j)]);
    }
    return mask;
}

std::vector<float> values_in(const std::vector<float>& all, const GridPlanes& planes, std::int64_t number) {
    std::vector<float> values;
    for (std::int64_t j = 0; j < planes.height(); ++j) {
        for (std::int64_t i = 0; i < planes.width(); ++i) values.push_back(all[planes.voxel(number, i, j)]);
    }
    return values;
}

LumenMask piece_near(const LumenMask& mask, double column, double row, double reach) {
    LumenMask piece{mask.width, mask.height, std::vector<std::uint8_t>(mask.inside.size())};
    std::int64_t best = -1;
    double best_square = reach * reach;
    for (std::int64_t k = 0; k < std::ssize(mask.inside); ++k) {
        if (mask.inside[index(k)] == 0) continue;
        const double square = std::pow(static_cast<double>(k % mask.width) - column, 2) +
                              std::pow(static_cast<double>(k / mask.width) - row, 2);
        if (square > best_square) continue;
        best = k;
        best_square = square;
    }
    std::vector<std::int64_t> open;
    if (best >= 0) open.push_back(best);
    while (!open.empty()) {
        const std::int64_t i = open.back() % mask.width, j = open.back() / mask.width;
        open.pop_back();
        for (std::int64_t y = j - 1; y <= j + 1; ++y) {
            for (std::int64_t x = i - 1; x <= i + 1; ++x) {
                if (!mask.at(x, y)) continue;
                auto& mark = piece.inside[index(y * mask.width + x)];
                if (mark == 0) open.push_back(y * mask.width + x);
                mark = 1;
            }
        }
    }
    return piece;
}

LumenCentre centre_of(const LumenMask& mask, const std::vector<float>& velocities, double sign) {
    LumenCentre centre;
    for (std::int64_t j = 0; j < mask.height; ++j) {
        for (std::int64_t i = 0; i < mask.width; ++i) {
            if (!mask.at(i, j)) continue;
            const double weight = std::max(0.0, sign * static_cast<double>(velocities[index(j * mask.width + i)]));
            centre.column += weight * static_cast<double>(i);
            centre.row += weight * static_cast<double>(j);
            centre.sum += weight;
        }
    }
    if (centre.sum > 0) {
        centre.column /= centre.sum;
        centre.row /= centre.sum;
    }
    return centre;
}

void keep_faster(LumenMask& lumen, const std::vector<float>& velocities, double sign) {
    // The 95th percentile is used instead of the maximum because it is robust to outliers.
    constexpr double rim_share = 0.1, of_all = 0.95;
    std::vector<double> speeds;
    for (std::size_t k = 0; k < velocities.size(); ++k) {
        if (lumen.inside[k] != 0) speeds.push_back(sign * static_cast<double>(velocities[k]));
    }
    const auto high = speeds.begin() + static_cast<std::ptrdiff_t>(of_all * static_cast<double>(speeds.size()));
    std::nth_element(speeds.begin(), high, speeds.end());
    const double least = std::max(0.0, rim_share * *high);
    for (std::size_t k = 0; k < velocities.size(); ++k) {
        if (sign * static_cast<double>(velocities[k]) < least) lumen.inside[k] = 0;
    }
}

namespace {

// A side of a lumen pixel whose neighbour is outside the lumen.
struct RimSide {
    double x, y;  // its centre, in um
    int side;     // left or right (0), above or below (1)
};

// Returns the sides of the lumen's rim. `dx`, `dy` are the pixel size in um.
std::vector<RimSide> rim_of(const LumenMask& lumen, double dx, double dy) {
    std::vector<RimSide> rim;
    for (std::int64_t j = 0; j < lumen.height; ++j) {
        for (std::int64_t i = 0; i < lumen.width; ++i) {
            if (!lumen.at(i, j)) continue;
            const auto x = static_cast<double>(i), y = static_cast<double>(j);
            if (!lumen.at(i - 1, j)) rim.push_back({(x - 0.5) * dx, y * dy, 0});
            if (!lumen.at(i + 1, j)) rim.push_back({(x + 0.5) * dx, y * dy, 0});
            if (!lumen.at(i, j - 1)) rim.push_back({x * dx, (y - 0.5) * dy, 1});
            if (!lumen.at(i, j + 1)) rim.push_back({x * dx, (y + 0.5) * dy, 1});
        }
    }
    return rim;
}

// Finds the nearest rim side row by row, and stops at rows further away than the best side.
class NearestSide {
  public:
    NearestSide(const LumenMask& lumen, double dx, double dy) : rim_(rim_of(lumen, dx, dy)), dy_(dy) {
        rows_.resize(index(2 * lumen.height + 1));  // half a pixel apart
        for (std::size_t k = 0; k < rim_.size(); ++k) rows_[row_of(rim_[k].y)].push_back(k);
        for (auto& row : rows_) std::ranges::stable_sort(row, {}, [&](std::size_t k) { return rim_[k].x; });
    }

    // Returns the squared distance in um^2 and the side; the first of equally near sides. {1e300, 0} if the rim is
    // empty.
    std::pair<double, int> square_and_side(double x, double y) const {
        NearestPoint best;
        const auto middle = static_cast<std::int64_t>(row_of(y));
        for (std::int64_t away = 0; away < std::ssize(rows_); ++away) {
            const double rows_um = 0.5 * static_cast<double>(away) * dy_;
            if (rows_um * rows_um > best.square) break;
            look_in(middle - away, x, y, best);
            if (away > 0) look_in(middle + away, x, y, best);
        }
        return {best.square, best.index < rim_.size() ? rim_[best.index].side : 0};
    }

  private:
    struct NearestPoint {
        double square = 1e300;
        std::size_t index = std::numeric_limits<std::size_t>::max();
    };

    std::size_t row_of(double y) const { return index(std::lround(2 * y / dy_) + 1); }

    // Searches outwards from x in one row of sides.
    void look_in(std::int64_t number, double x, double y, NearestPoint& best) const {
        if (number < 0 || number >= std::ssize(rows_)) return;
        const std::vector<std::size_t>& row = rows_[index(number)];
        const auto here = std::ranges::lower_bound(row, x, {}, [&](std::size_t k) { return rim_[k].x; });
        const auto is_further = [&](std::size_t k) {
            const double across = rim_[k].x - x, up = rim_[k].y - y;
            const double square = across * across + up * up;
            if (square > best.square) return true;
            if (square < best.square || k < best.index) best = {square, k};
            return false;
        };
        for (auto k = here; k != row.end() && !is_further(*k); ++k) {
        }
        for (auto k = here; k != row.begin() && !is_further(*std::prev(k)); --k) {
        }
    }

    std::vector<RimSide> rim_;
    double dy_;
    std::vector<std::vector<std::size_t>> rows_;  // indices into rim_, sorted by x
};

}  // namespace

std::vector<std::int32_t> rings_of(const LumenMask& lumen, const LumenMask& counted, const GridPlanes& planes,
                                   double step_um) {
    const double dx = planes.spacing(planes.in[0]), dy = planes.spacing(planes.in[1]);
    const NearestSide nearest(lumen, dx, dy);
    std::vector<std::int32_t> rings(lumen.inside.size(), no_ring);
    for (std::int64_t j = 0; j < lumen.height; ++j) {
        for (std::int64_t i = 0; i < lumen.width; ++i) {
            if (!counted.at(i, j)) continue;
            const auto [square, side] =
                nearest.square_and_side(static_cast<double>(i) * dx, static_cast<double>(j) * dy);
            const double um = lumen.at(i, j) ? std::sqrt(square) : -std::sqrt(square);
            rings[index(j * lumen.width + i)] = 2 * static_cast<std::int32_t>(std::lround(um / step_um)) + side;
        }
    }
    return rings;
}

}  // namespace echolux
