#include "engine/regions/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/scan/settings.h"

namespace echolux {

// ---- Description

template <>
const std::vector<Field<RegionSpec>>& describe<RegionSpec>() {
    using S = RegionSpec;
    constexpr Effect effect = Effect::file;
    constexpr double far = 1e9;
    static const std::vector<Field<S>> fields{
        text<S>("name", &S::name, effect, "name in tables and plots"),
        choice<S>("shape", &S::shape, {"box", "ellipsoid", "polygon", "slab"}, effect, "shape of the region"),
        choice<S>("unit", &S::unit, {"mm", "voxels"}, effect, "unit of all its numbers"),
        numbers<S>("from", &S::from, -far, far, "", effect, "x, y, z of the first corner of a box; x, y of a slab"),
        numbers<S>("to", &S::to, -far, far, "", effect, "the opposite corner, which is excluded"),
        numbers<S>("centre", &S::centre, -far, far, "", effect, "x, y, z of the centre of an ellipsoid"),
        numbers<S>("radii", &S::radii, 0, far, "", effect, "its half axes along x, y, z"),
        numbers<S>("points", &S::points, -far, far, "", effect,
                   "corners of a polygon: x, y of each (depth), x, z (b-scans) or y, z (a-scans)"),
        choice<S>("along", &S::along, {"depth", "b-scans", "a-scans"}, effect, "direction in which a polygon extends"),
        numbers<S>("range", &S::range, -far, far, "", effect, "from where to where it extends; default: everywhere"),
        text<S>("upper", &S::upper, effect, "surface above a slab"),
        text<S>("lower", &S::lower, effect, "surface below a slab"),
        number<S>("below_upper", &S::below_upper, -far, far, "", effect, "distance of the slab from the upper surface"),
        number<S>("below_lower", &S::below_lower, -far, far, "", effect, "distance of its end from the lower surface"),
    };
    return fields;
}

namespace {

constexpr double unknown_value = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t max_regions = std::numeric_limits<std::uint16_t>::max();  // as labels

[[noreturn]] void refuse(const RegionSpec& spec, const std::string& what, const std::string& remedy) {
    throw Error(ErrorCode::bad_setting, spec.name.empty() ? what : "region " + spec.name + " " + what, spec.where,
                remedy);
}

void require_count(const RegionSpec& spec, const char* key, std::size_t found, std::size_t expected) {
    if (found == expected) return;
    refuse(spec, fmt::format("needs {} as `{}`, got {}", plural(expected, "numbers"), key, found),
           "docs/regions.md shows each shape");
}

void require_ascending(const RegionSpec& spec, const char* key, double from, double to) {
    if (from < to) return;
    refuse(spec, fmt::format("is empty: {} of `{}` is not above {}", to, key, from), "exchange or change them");
}

// ---- Polygons

using Corner = std::array<double, 2>;

std::vector<Corner> corners_of(const std::vector<double>& points) {
    std::vector<Corner> corners;
    for (std::size_t i = 0; i + 1 < points.size(); i += 2) corners.push_back({points[i], points[i + 1]});
    return corners;
}

// Twice the signed area of a triangle.
double turn(const Corner& a, const Corner& b, const Corner& c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

bool is_between(const Corner& a, const Corner& b, const Corner& c) {
    return c[0] >= std::min(a[0], b[0]) && c[0] <= std::max(a[0], b[0]) && c[1] >= std::min(a[1], b[1]) &&
           c[1] <= std::max(a[1], b[1]);
}

// Whether two edges cross or touch.
bool do_meet(const Corner& a, const Corner& b, const Corner& c, const Corner& d) {
    const double ac = turn(a, b, c), ad = turn(a, b, d), ca = turn(c, d, a), cb = turn(c, d, b);
    if (((ac > 0) != (ad > 0)) && ac != 0 && ad != 0 && ((ca > 0) != (cb > 0)) && ca != 0 && cb != 0) return true;
    return (ac == 0 && is_between(a, b, c)) || (ad == 0 && is_between(a, b, d)) || (ca == 0 && is_between(c, d, a)) ||
           (cb == 0 && is_between(c, d, b));
}

// Neighbouring edges meet in a corner; they cross only if one runs back along the other.
bool do_edges_cross(const std::vector<Corner>& corners, std::size_t i, std::size_t j) {
    const std::size_t n = corners.size();
    const Corner &a = corners[i], &b = corners[(i + 1) % n], &c = corners[j], &d = corners[(j + 1) % n];
    if (j != i + 1 && (j + 1) % n != i) return do_meet(a, b, c, d);
    const Corner& shared = j == i + 1 ? b : a;
    const Corner& before = j == i + 1 ? a : b;
    const Corner& after = j == i + 1 ? d : c;
    const double along =
        (before[0] - shared[0]) * (after[0] - shared[0]) + (before[1] - shared[1]) * (after[1] - shared[1]);
    return turn(before, shared, after) == 0 && along > 0;
}

void check_polygon(const RegionSpec& spec) {
    if (spec.points.size() % 2 != 0 || spec.points.size() < 6)
        refuse(spec, "needs two coordinates for each of three corners or more as `points`",
               "write points = [x1, y1, x2, y2, x3, y3]");
    if (!spec.range.empty()) {
        require_count(spec, "range", spec.range.size(), 2);
        require_ascending(spec, "range", spec.range[0], spec.range[1]);
    }
    const std::vector<Corner> corners = corners_of(spec.points);
    const std::size_t count = corners.size();
    for (std::size_t i = 0; i < count; ++i) {
        if (corners[i] == corners[(i + 1) % count])
            refuse(spec, fmt::format("repeats corner {} of its polygon", i + 1),
                   "leave out one; the polygon closes by itself");
    }
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = i + 1; j < count; ++j) {
            if (!do_edges_cross(corners, i, j)) continue;
            refuse(spec, fmt::format("crosses itself: edges {} and {} of its polygon meet", i + 1, j + 1),
                   "change the order of the corners, or use two regions");
        }
    }
}

// Even-odd rule: counts edges to the right of the point.
bool is_inside(const std::vector<Corner>& corners, double u, double v) {
    bool inside = false;
    for (std::size_t i = 0, j = corners.size() - 1; i < corners.size(); j = i++) {
        const Corner &a = corners[i], &b = corners[j];
        if ((a[1] > v) == (b[1] > v)) continue;
        if (u < (b[0] - a[0]) * (v - a[1]) / (b[1] - a[1]) + a[0]) inside = !inside;
    }
    return inside;
}

// ---- Checks of a table

void check_spec(const RegionSpec& spec) {
    if (spec.name.empty()) refuse(spec, "a region has no name", "write name = \"...\" below [[region]]");
    if (spec.name.find_first_of(",\"\r\n") != std::string::npos)
        refuse(spec, "has a comma, quote or line break in its name", "choose another name");
    if (spec.shape == RegionShape::box) {
        require_count(spec, "from", spec.from.size(), 3);
        require_count(spec, "to", spec.to.size(), 3);
    } else if (spec.shape == RegionShape::ellipsoid) {
        require_count(spec, "centre", spec.centre.size(), 3);
        require_count(spec, "radii", spec.radii.size(), 3);
        if (std::ranges::min(spec.radii) <= 0) refuse(spec, "has a radius of 0", "write radii above 0");
    } else if (spec.shape == RegionShape::polygon) {
        check_polygon(spec);
    } else {
        if (spec.upper.empty() || spec.lower.empty())
            refuse(spec, "names no surfaces as `upper` and `lower`", "name them as `segment` does");
        if (spec.from.empty() != spec.to.empty()) refuse(spec, "has only one of `from` and `to`", "write both");
        if (!spec.from.empty()) {
            require_count(spec, "from", spec.from.size(), 2);
            require_count(spec, "to", spec.to.size(), 2);
        }
    }
    for (std::size_t i = 0; i < spec.from.size() && spec.shape != RegionShape::polygon; ++i)
        require_ascending(spec, "to", spec.from[i], spec.to[i]);
}

}  // namespace

std::vector<RegionSpec> read_regions(const std::filesystem::path& path) {
    std::vector<RegionSpec> specs;
    std::set<std::string> names;
    for (std::vector<TomlEntry> table : toml_tables(path, "region")) {
        RegionSpec spec;
        Settings settings;
        settings.bind("region", spec);
        for (TomlEntry& entry : table) entry.name = "region." + entry.name;
        settings.take(table);
        spec.where = fmt::format("{}, region {}", path.string(), specs.size() + 1);
        check_spec(spec);
        if (!names.insert(spec.name).second) refuse(spec, "has the name of another one", "choose another name");
        specs.push_back(std::move(spec));
    }
    return specs;
}

// ---- Voxels

namespace {

// Converts coordinates x, y, z of a region to voxels.
class VoxelScale {
  public:
    VoxelScale(const RegionSpec& spec, const VolumeGrid& grid) {
        if (spec.unit == RegionUnit::voxels) return;
        size_um_ = {grid.spacing_um[1], grid.spacing_um[2], grid.spacing_um[0]};
        if (std::ranges::min(size_um_) <= 0)
            refuse(spec, "is in mm, but a voxel size of the volume is unknown", "write unit = \"voxels\"");
        first_um_ = grid.first_depth_um;
        factor_ = 1000;
    }

    double length(std::size_t axis, double value) const { return value * factor_ / size_um_.at(axis); }
    // Positions within a millionth of a voxel centre are on it, so that mm and voxels give the same regions.
    double position(std::size_t axis, double value) const {
        const double at = (value * factor_ - (axis == 2 ? first_um_ : 0)) / size_um_.at(axis);
        return std::abs(at - std::round(at)) < 1e-6 ? std::round(at) : at;
    }

  private:
    std::array<double, 3> size_um_{1, 1, 1};
    double first_um_ = 0, factor_ = 1;
};

// Limits of a region in voxels; the upper ones are excluded.
struct Limits {
    std::array<double, 3> low, high;
    std::array<std::int64_t, 3> size;  // of the volume

    explicit Limits(const VolumeGrid& grid) : low{}, high{}, size{grid.a_scans, grid.b_scans, grid.depth} {
        for (std::size_t axis = 0; axis < 3; ++axis) high.at(axis) = static_cast<double>(size.at(axis));
    }

    bool is_cut() const {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (low.at(axis) < -0.5 || high.at(axis) > static_cast<double>(size.at(axis))) return true;
        }
        return false;
    }
    std::int64_t begin(std::size_t axis) const { return clipped(axis, low.at(axis)); }
    std::int64_t end(std::size_t axis) const { return clipped(axis, high.at(axis)); }

  private:
    std::int64_t clipped(std::size_t axis, double at) const {
        return static_cast<std::int64_t>(std::clamp(std::ceil(at), 0.0, static_cast<double>(size.at(axis))));
    }
};

// Collects voxels in memory order.
struct RunBuilder {
    std::vector<VoxelRun>& runs;

    void add(std::int64_t begin, std::int64_t end) const {
        if (begin >= end) return;
        if (!runs.empty() && runs.back().end == begin)
            runs.back().end = end;
        else
            runs.push_back({begin, end});
    }
};

// `is_in(a, b, z)` decides for voxels within the limits.
template <class IsIn>
void add_voxels(Region& region, const VolumeGrid& grid, const Limits& limits, const IsIn& is_in) {
    const RunBuilder builder{region.runs};
    for (std::int64_t b = limits.begin(1); b < limits.end(1); ++b) {
        for (std::int64_t a = limits.begin(0); a < limits.end(0); ++a) {
            const std::int64_t first = (b * grid.a_scans + a) * grid.depth;
            for (std::int64_t z = limits.begin(2); z < limits.end(2); ++z) {
                if (is_in(a, b, z)) builder.add(first + z, first + z + 1);
            }
        }
    }
    region.is_cut = limits.is_cut();
}

void add_box(Region& region, const RegionSpec& spec, const VolumeGrid& grid) {
    const VoxelScale scale(spec, grid);
    Limits limits(grid);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        limits.low.at(axis) = scale.position(axis, spec.from[axis]);
        limits.high.at(axis) = scale.position(axis, spec.to[axis]);
    }
    add_voxels(region, grid, limits, [](std::int64_t, std::int64_t, std::int64_t) { return true; });
}

void add_ellipsoid(Region& region, const RegionSpec& spec, const VolumeGrid& grid) {
    const VoxelScale scale(spec, grid);
    Limits limits(grid);
    std::array<double, 3> centre{}, radius{};
    constexpr double rounding = 1e-9;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        centre.at(axis) = scale.position(axis, spec.centre[axis]);
        radius.at(axis) = scale.length(axis, spec.radii[axis]);
        limits.low.at(axis) = centre.at(axis) - radius.at(axis) - rounding;
        limits.high.at(axis) = centre.at(axis) + radius.at(axis) + rounding;
    }
    const auto share = [&](std::size_t axis, std::int64_t at) {
        const double distance = (static_cast<double>(at) - centre.at(axis)) / radius.at(axis);
        return distance * distance;
    };
    add_voxels(region, grid, limits, [&](std::int64_t a, std::int64_t b, std::int64_t z) {
        return share(0, a) + share(1, b) + share(2, z) <= 1 + rounding;
    });
}

// Axes of the coordinates of a polygon, and its normal: 0 x, 1 y, 2 z.
std::array<std::size_t, 3> axes_of(RegionAxis along) {
    switch (along) {
        case RegionAxis::depth: return {0, 1, 2};
        case RegionAxis::b_scans: return {0, 2, 1};
        case RegionAxis::a_scans: return {1, 2, 0};
    }
    return {0, 1, 2};
}

void add_polygon(Region& region, const RegionSpec& spec, const VolumeGrid& grid) {
    const VoxelScale scale(spec, grid);
    const auto [u, v, normal] = axes_of(spec.along);
    std::vector<Corner> corners = corners_of(spec.points);
    for (Corner& corner : corners) corner = {scale.position(u, corner[0]), scale.position(v, corner[1])};
    Limits limits(grid);
    for (const auto& [axis, part] : {std::pair(u, std::size_t{0}), std::pair(v, std::size_t{1})}) {
        const auto [low, high] =
            std::ranges::minmax(corners, {}, [part](const Corner& corner) { return corner.at(part); });
        limits.low.at(axis) = low.at(part);
        limits.high.at(axis) = high.at(part);
    }
    if (!spec.range.empty()) {
        limits.low.at(normal) = scale.position(normal, spec.range[0]);
        limits.high.at(normal) = scale.position(normal, spec.range[1]);
    }
    const std::int64_t width = limits.size.at(u);
    std::vector<std::uint8_t> mask(index(width * limits.size.at(v)));
    for (std::int64_t j = limits.begin(v); j < limits.end(v); ++j) {
        for (std::int64_t i = limits.begin(u); i < limits.end(u); ++i)
            mask[index(j * width + i)] = is_inside(corners, static_cast<double>(i), static_cast<double>(j)) ? 1 : 0;
    }
    add_voxels(region, grid, limits, [&, u = u, v = v](std::int64_t a, std::int64_t b, std::int64_t z) {
        const std::array<std::int64_t, 3> at{a, b, z};
        return mask[index(at.at(v) * width + at.at(u))] != 0;
    });
}

void add_slab(Region& region, const RegionSpec& spec, const VolumeGrid& grid, const Surfaces* surfaces) {
    if (surfaces == nullptr) refuse(spec, "is a slab between surfaces", "name the file of `segment` as `surfaces`");
    const VoxelScale scale(spec, grid);
    SlabSpec slab{index_of(*surfaces, spec.upper), index_of(*surfaces, spec.lower)};
    const double row_um = DepthScale(grid).thickness(1);
    slab.below_upper_um = scale.length(2, spec.below_upper) * row_um;
    slab.below_lower_um = scale.length(2, spec.below_lower) * row_um;
    Limits limits(grid);
    for (std::size_t axis = 0; axis < spec.from.size(); ++axis) {
        limits.low.at(axis) = scale.position(axis, spec.from[axis]);
        limits.high.at(axis) = scale.position(axis, spec.to[axis]);
    }
    const RunBuilder builder{region.runs};
    for (std::int64_t b = limits.begin(1); b < limits.end(1); ++b) {
        for (std::int64_t a = limits.begin(0); a < limits.end(0); ++a) {
            const std::int64_t line = b * grid.a_scans + a;
            const std::optional<RowRange> rows = rows_between(*surfaces, slab, grid, index(line));
            if (rows) builder.add(line * grid.depth + rows->begin, line * grid.depth + rows->end);
        }
    }
    region.is_cut = limits.is_cut();
}

}  // namespace

std::int64_t Region::voxels() const {
    std::int64_t count = 0;
    for (const VoxelRun& run : runs) count += run.end - run.begin;
    return count;
}

Region region_of(const RegionSpec& spec, const VolumeGrid& grid, const Surfaces* surfaces) {
    Region region{spec.name, {}};
    switch (spec.shape) {
        case RegionShape::box: add_box(region, spec, grid); break;
        case RegionShape::ellipsoid: add_ellipsoid(region, spec, grid); break;
        case RegionShape::polygon: add_polygon(region, spec, grid); break;
        case RegionShape::slab: add_slab(region, spec, grid, surfaces); break;
    }
    if (!region.runs.empty()) return region;
    refuse(spec, region.is_cut ? "lies outside the volume" : "contains no centre of a voxel",
           fmt::format("its {} x {} A-scans have {}; check numbers and `unit`", grid.a_scans, grid.b_scans,
                       plural(grid.depth, "rows")));
}

std::vector<Region> regions_of_labels(const Volume& labels, const VolumeGrid& grid, const std::string& name) {
    if (labels.grid.depth != grid.depth || labels.grid.a_scans != grid.a_scans || labels.grid.b_scans != grid.b_scans ||
        labels.grid.type == VoxelType::complex64) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("has {} x {} x {} voxels, the volume {} x {} x {}", labels.grid.a_scans,
                                labels.grid.b_scans, labels.grid.depth, grid.a_scans, grid.b_scans, grid.depth),
                    name, "use labels of this volume");
    }
    constexpr double max = 1 << 24;  // whole numbers that a float holds
    std::map<std::int64_t, Region> found;
    with_voxels(labels, [&](const auto* codes) {
        for (std::int64_t i = 0; i < grid.voxels(); ++i) {
            const double label = static_cast<double>(codes[i]) * labels.grid.scale + labels.grid.offset;
            if (label == 0) continue;
            if (!(label > 0 && label <= max && label == std::floor(label))) {
                throw Error(ErrorCode::bad_setting, fmt::format("holds {:g}, which is not a label", label), name,
                            "use a volume of whole numbers, 0 outside all regions");
            }
            RunBuilder{found[static_cast<std::int64_t>(label)].runs}.add(i, i + 1);
            if (found.size() > max_regions)
                throw Error(ErrorCode::bad_setting, fmt::format("holds more than {} labels", max_regions), name,
                            "use a volume of labels instead of measured values");
        }
    });
    if (found.empty()) {
        throw Error(ErrorCode::bad_setting, "holds no label above 0", name, "use a volume of whole numbers above 0");
    }
    std::vector<Region> regions;
    for (auto& [number, region] : found) {
        region.name = fmt::format("label {}", number);
        regions.push_back(std::move(region));
    }
    return regions;
}

Volume labels_of(const std::vector<Region>& regions, const VolumeGrid& grid) {
    if (regions.size() > max_regions)
        throw Error(ErrorCode::bad_setting,
                    fmt::format("{} regions, a volume of labels holds {}", regions.size(), max_regions), "mask",
                    "leave it out, or use fewer regions");
    Volume labels{grid, {}, {}};
    labels.grid.type = VoxelType::u16;
    labels.grid.scale = 1;
    labels.grid.offset = 0;
    labels.grid.quantity = "labels";
    labels.grid.unit = "";
    labels.grid.v_max = 0;
    labels.voxels.resize(index(labels.grid.bytes()));
    auto* codes = reinterpret_cast<std::uint16_t*>(labels.voxels.data());
    std::string names;
    for (std::size_t i = 0; i < regions.size(); ++i) {
        for (const VoxelRun& run : regions[i].runs)
            std::fill(codes + run.begin, codes + run.end, static_cast<std::uint16_t>(i + 1));
        names += (names.empty() ? "" : ", ") + fmt::format("{} {}", i + 1, regions[i].name);
    }
    labels.provenance["regions"] = names;
    return labels;
}

// ---- Statistics

static double linear_value(double value, const VolumeGrid& grid) {
    if (grid.quantity == "db") return std::pow(10.0, value / 10);
    return grid.quantity == "amplitude" ? value * value : value;
}

RegionValues region_values(const Region& region, const Volume& volume, RegionDomain domain) {
    const VolumeGrid& grid = volume.grid;
    if (grid.type == VoxelType::complex64) {
        throw Error(ErrorCode::bad_setting, "complex voxels have no value to measure", "recipe.quantity",
                    "reconstruct db, intensity or amplitude");
    }
    const bool is_velocity = grid.unit == "mm/s", is_linear = domain == RegionDomain::linear;
    if (is_velocity && is_linear)
        throw Error(ErrorCode::bad_setting, "velocities have no linear intensity", "domain", "choose stored");
    RegionValues found;
    found.values.reserve(index(region.voxels()));
    with_voxels(volume, [&](const auto* codes) {
        for (const VoxelRun& run : region.runs) {
            for (std::int64_t i = run.begin; i < run.end; ++i) {
                const double stored = static_cast<double>(codes[i]) * grid.scale + grid.offset;
                const double value = is_linear ? linear_value(stored, grid) : stored;
                if (!std::isfinite(value) || (is_velocity && value == 0))
                    ++found.unknown;
                else
                    found.values.push_back(value);
            }
        }
    });
    return found;
}

// `values` from `begin` on are not below those before it, which are in order up to `begin`.
static double order_statistic(std::vector<double>& values, std::size_t number, std::size_t& begin) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(std::min(begin, number));
    std::nth_element(first, values.begin() + static_cast<std::ptrdiff_t>(number), values.end());
    begin = number;
    return values[number];
}

RegionStats region_stats(std::vector<double>& values, const std::vector<double>& percentiles) {
    RegionStats stats{unknown_value, unknown_value, unknown_value, unknown_value,
                      std::vector<double>(percentiles.size(), unknown_value)};
    if (values.empty()) return stats;
    const auto count = static_cast<double>(values.size());
    double sum = 0, squares = 0;
    for (const double value : values) sum += value;
    stats.mean = sum / count;
    for (const double value : values) squares += (value - stats.mean) * (value - stats.mean);
    stats.sd = std::sqrt(squares / count);
    std::tie(stats.min, stats.max) = std::pair(std::ranges::min(values), std::ranges::max(values));
    std::vector<std::size_t> order(percentiles.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) { return percentiles[i]; });
    std::size_t begin = 0;
    for (const std::size_t i : order) {
        const double at = percentiles[i] / 100 * (count - 1);
        const auto below = static_cast<std::size_t>(at);
        const double low = order_statistic(values, below, begin);
        const double share = at - static_cast<double>(below);
        stats.percentiles[i] = low;
        if (share > 0) {
            const auto above = values.begin() + static_cast<std::ptrdiff_t>(below) + 1;
            stats.percentiles[i] += share * (*std::min_element(above, values.end()) - low);
        }
    }
    return stats;
}

double region_flux_ul_s(const Region& region, const Volume& volume) {
    const VolumeGrid& grid = volume.grid;
    const double pixel_mm2 = grid.spacing_um[1] * grid.spacing_um[2] * 1e-6;
    std::vector<std::uint8_t> is_met(index(grid.depth));
    double sum = 0;
    with_voxels(volume, [&](const auto* codes) {
        for (const VoxelRun& run : region.runs) {
            for (std::int64_t i = run.begin; i < run.end; ++i) {
                const double value = static_cast<double>(codes[i]) * grid.scale + grid.offset;
                if (std::isfinite(value)) sum += value;
                is_met[index(i % grid.depth)] = 1;
            }
        }
    });
    const auto planes = static_cast<double>(std::ranges::count(is_met, 1));
    return planes > 0 && pixel_mm2 > 0 ? sum * pixel_mm2 / planes : unknown_value;
}

double RegionHistogram::edge(std::size_t bin) const {
    if (bin == counts.size()) return high;
    return low + static_cast<double>(bin) * ((high - low) / static_cast<double>(counts.size()));
}

RegionHistogram region_histogram(const std::vector<double>& values, std::int64_t bins,
                                 std::pair<double, double> range) {
    RegionHistogram histogram{range.first, range.second, std::vector<std::int64_t>(index(bins))};
    if (range.first == range.second) {
        if (values.empty()) return {0, 1, std::move(histogram.counts)};
        histogram.low = std::ranges::min(values);
        histogram.high = std::ranges::max(values);
        if (histogram.low == histogram.high) {
            histogram.low -= 0.5;
            histogram.high += 0.5;
        }
    }
    const double per_bin = static_cast<double>(bins) / (histogram.high - histogram.low);
    for (const double value : values) {
        if (!(value >= histogram.low && value <= histogram.high)) continue;
        auto bin = std::min(static_cast<std::size_t>((value - histogram.low) * per_bin), index(bins - 1));
        // Rounding must not move values across the stated edges.
        if (bin > 0 && value < histogram.edge(bin)) --bin;
        if (bin + 1 < index(bins) && value >= histogram.edge(bin + 1)) ++bin;
        ++histogram.counts[bin];
    }
    return histogram;
}

}  // namespace echolux
