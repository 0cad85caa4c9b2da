#include "engine/angiography/flow_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "compute/error.h"
#include "compute/host_device.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "engine/io/output_rule.h"
#include "engine/io/volume_file.h"

namespace echolux {

// ---- Removal of projection artifacts ("tails") below vessels (docs/angiography.md). Light that has passed a vessel
// fluctuates with its blood, so static tissue below appears to flow. Real flow decorrelates more than everything above
// it (M. Zhang et al., Biomed. Opt. Express 7(3), 2016).

// Masks one A-scan from the top down. A voxel is kept if its smoothed value exceeds the max of all voxels at least
// `gap` above it, where `gap` is the max thickness of a vessel.
struct TailMask {
    std::int64_t gap = 9;

    ECHOLUX_HD_CALLER
    template <class Smoothed, class Keep>
    ECHOLUX_HD void operator()(std::int64_t depth, const Smoothed& smoothed, const Keep& keep) const {
        float greatest = 0;
        for (std::int64_t z = 0; z < depth; ++z) {
            if (z >= gap) {
                const float above = smoothed(z - gap);
                greatest = above > greatest ? above : greatest;
            }
            keep(z, smoothed(z) > greatest);
        }
    }
};

// ---- Thinning of maps and the length of the resulting lines.

namespace {

// The eight neighbours of a sample, clockwise from the one above; 0 outside the map.
struct Ring {
    int at[8];

    Ring(const std::vector<std::uint8_t>& map, std::int64_t width, std::int64_t height, std::int64_t x,
         std::int64_t y) {
        constexpr int dx[] = {0, 1, 1, 1, 0, -1, -1, -1}, dy[] = {-1, -1, 0, 1, 1, 1, 0, -1};
        for (int i = 0; i < 8; ++i) {
            const std::int64_t u = x + dx[i], v = y + dy[i];
            const bool exists = u >= 0 && u < width && v >= 0 && v < height;
            at[i] = exists ? map[index(v * width + u)] : 0;
        }
    }
    int count() const {
        int sum = 0;
        for (const int one : at) sum += one;
        return sum;
    }
    // Number of runs of ones around the ring.
    int beginnings() const {
        int runs = 0;
        for (int i = 0; i < 8; ++i) runs += at[i] == 0 && at[(i + 1) % 8] == 1;
        return runs;
    }
    // Conditions for removing a sample in pass 0 or 1 (T. Y. Zhang, C. Y. Suen, Commun. ACM 27, 236 (1984)).
    bool may_go(int pass) const {
        if (count() < 2 || count() > 6 || beginnings() != 1) return false;
        const int up = at[0], right = at[2], down = at[4], left = at[6];
        return pass == 0 ? up * right * down == 0 && right * down * left == 0
                         : up * right * left == 0 && up * down * left == 0;
    }
};

// Runs one pass over the map. Returns whether it removed any sample.
bool thin(std::vector<std::uint8_t>& map, std::int64_t width, std::int64_t height, int pass) {
    std::vector<std::size_t> gone;
    for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) {
            const auto place = index(y * width + x);
            if (map[place] == 1 && Ring(map, width, height, x, y).may_go(pass)) gone.push_back(place);
        }
    }
    for (const std::size_t place : gone) map[place] = 0;
    return !gone.empty();
}

}  // namespace

std::vector<std::uint8_t> skeleton_of(const std::vector<float>& map, std::int64_t width, std::int64_t height) {
    std::vector<std::uint8_t> skeleton;
    for (const float value : map) skeleton.push_back(value == 1 ? 1 : 0);
    for (bool changes = true; changes;) {
        const bool first = thin(skeleton, width, height, 0), second = thin(skeleton, width, height, 1);
        changes = first || second;
    }
    return skeleton;
}

double skeleton_length(const std::vector<std::uint8_t>& skeleton, std::int64_t width, double dx, double dy) {
    const auto height = std::ssize(skeleton) / width;
    const auto is_line = [&](std::int64_t x, std::int64_t y) {
        return x >= 0 && x < width && y < height && skeleton[index(y * width + x)] == 1;
    };
    double length = 0;
    for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) {
            if (!is_line(x, y)) continue;
            const bool right = is_line(x + 1, y), down = is_line(x, y + 1), left = is_line(x - 1, y);
            length += (right ? dx : 0) + (down ? dy : 0);
            // Skip diagonal steps where a corner already connects the two samples.
            const double diagonal = std::hypot(dx, dy);
            if (!right && !down && is_line(x + 1, y + 1)) length += diagonal;
            if (!left && !down && is_line(x - 1, y + 1)) length += diagonal;
        }
    }
    return length;
}

namespace {

constexpr std::string_view vessels_heading = "# echolux vessels";
constexpr float unmeasured = std::numeric_limits<float>::quiet_NaN();

// Throws unless the volume is an angiogram with known lateral spacings.
void require_angiogram(const VolumeGrid& grid) {
    if (!is_angiogram(grid)) {
        throw Error(ErrorCode::bad_setting,
                    "vessel maps need an angiogram, but the volume holds " +
                        (grid.quantity.empty() ? std::string("other values") : grid.quantity),
                    "volume", "use the flow that `reconstruct` writes with flow.method = complex_decorrelation");
    }
    if (grid.spacing_um[0] > 0 && grid.spacing_um[1] > 0 && (grid.b_scans == 1 || grid.spacing_um[2] > 0)) return;
    throw Error(ErrorCode::bad_setting, "areas need the voxel spacing, which is unknown", "volume",
                "set scan.spacing_a_um and spacing_b_um");
}

// The voxels of the 3 x 3 x 3 neighbourhood of a voxel that are inside the volume, including the voxel itself.
struct Around {
    std::array<float, 27> values{};
    std::size_t count = 0;

    Around(const std::vector<float>& volume, const VolumeGrid& grid, std::int64_t b, std::int64_t a, std::int64_t z) {
        for (std::int64_t y = std::max<std::int64_t>(0, b - 1); y <= std::min(grid.b_scans - 1, b + 1); ++y) {
            for (std::int64_t x = std::max<std::int64_t>(0, a - 1); x <= std::min(grid.a_scans - 1, a + 1); ++x) {
                const std::int64_t line = (y * grid.a_scans + x) * grid.depth;
                for (std::int64_t i = std::max<std::int64_t>(0, z - 1); i <= std::min(grid.depth - 1, z + 1); ++i)
                    values[count++] = volume[index(line + i)];
            }
        }
    }
    float median() {
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(count / 2);
        std::nth_element(values.begin(), middle, values.begin() + static_cast<std::ptrdiff_t>(count));
        return *middle;
    }
    bool is_vessel(float above) const {
        const auto end = values.begin() + static_cast<std::ptrdiff_t>(count);
        return 3 * index(std::count_if(values.begin(), end, [&](float v) { return v > above; })) >= count;
    }
};

// A B-scan without any positive value was not measured.
bool is_measured(const std::vector<float>& values, const VolumeGrid& grid, std::int64_t b) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(b * grid.a_scans * grid.depth);
    return std::any_of(first, first + static_cast<std::ptrdiff_t>(grid.a_scans * grid.depth),
                       [](float value) { return value > 0; });
}

// Returns the percentage of ones among the measured samples of a square around each sample.
std::vector<float> density_of(const std::vector<float>& vessels, const VolumeGrid& grid, double window_um) {
    const auto reach = [&](double spacing_um) {
        return spacing_um > 0 ? static_cast<std::int64_t>(std::floor(window_um / spacing_um / 2)) : std::int64_t{0};
    };
    const std::int64_t reach_a = reach(grid.spacing_um[1]), reach_b = reach(grid.spacing_um[2]);
    std::vector<float> density(vessels.size(), unmeasured);
    parallel_for(0, grid.b_scans, [&](std::int64_t b) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            const auto place = index(b * grid.a_scans + a);
            if (std::isnan(vessels[place])) continue;
            double ones = 0, all = 0;
            for (std::int64_t y = std::max<std::int64_t>(0, b - reach_b); y <= std::min(grid.b_scans - 1, b + reach_b);
                 ++y) {
                for (std::int64_t x = std::max<std::int64_t>(0, a - reach_a);
                     x <= std::min(grid.a_scans - 1, a + reach_a); ++x) {
                    const float one = vessels[index(y * grid.a_scans + x)];
                    if (std::isnan(one)) continue;
                    all += 1;
                    ones += static_cast<double>(one);
                }
            }
            density[place] = static_cast<float>(100 * ones / all);
        }
    });
    return density;
}

// Returns the nearest value that `Code` can represent.
template <class Code>
Code nearest_code(double value) {
    if constexpr (std::is_integral_v<Code>) {
        using Limits = std::numeric_limits<Code>;
        return static_cast<Code>(
            std::clamp(std::round(value), static_cast<double>(Limits::min()), static_cast<double>(Limits::max())));
    } else {
        return static_cast<Code>(value);
    }
}

}  // namespace

bool is_angiogram(const VolumeGrid& grid) {
    constexpr std::array<std::string_view, 7> quantities{
        "speckle_variance", "decorrelation", "omag", "cdv", "correlation", "phase_variance", "complex_decorrelation"};
    return std::ranges::find(quantities, grid.quantity) != quantities.end();
}

VesselMaps vessel_maps(const Volume& flow, const Surfaces& surfaces, const SlabSpec& slab, const VesselSpec& spec) {
    const VolumeGrid& grid = flow.grid;
    require_angiogram(grid);
    const std::vector<float> values = finite_values(flow);
    const auto above = static_cast<float>(spec.above);
    VesselMaps maps;
    maps.vessels.assign(index(grid.a_scans * grid.b_scans), unmeasured);
    maps.flux = maps.vessels;
    parallel_for(0, grid.b_scans, [&](std::int64_t b) {
        if (!is_measured(values, grid, b)) return;
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            const auto place = index(b * grid.a_scans + a);
            const std::optional<RowRange> rows = rows_between(surfaces, slab, grid, place);
            if (!rows) continue;
            double sum = 0, count = 0;
            for (std::int64_t z = rows->begin; z < rows->end; ++z) {
                const float value = values[place * index(grid.depth) + index(z)];
                if (!(value > above) || !Around(values, grid, b, a, z).is_vessel(above)) continue;
                sum += static_cast<double>(value);
                count += 1;
            }
            maps.vessels[place] = count > 0 ? 1.0F : 0.0F;
            maps.flux[place] = count > 0 ? static_cast<float>(sum / count) : 0.0F;
        }
    });
    maps.density = density_of(maps.vessels, grid, spec.window_um);
    return maps;
}

VesselStats vessel_stats(const VesselMaps& maps, const VolumeGrid& grid) {
    double measured = 0, vessels = 0, flux = 0;
    for (std::size_t i = 0; i < maps.vessels.size(); ++i) {
        if (std::isnan(maps.vessels[i])) continue;
        measured += 1;
        if (maps.vessels[i] == 0) continue;
        vessels += 1;
        flux += static_cast<double>(maps.flux[i]);
    }
    const double dx = grid.spacing_um[1] / 1000, dy = grid.spacing_um[2] / 1000;
    VesselStats stats;
    stats.area_mm2 = measured * dx * dy;
    stats.measured_percent = 100 * measured / static_cast<double>(maps.vessels.size());
    if (measured > 0) stats.density_percent = 100 * vessels / measured;
    stats.skeleton_mm = skeleton_length(skeleton_of(maps.vessels, grid.a_scans, grid.b_scans), grid.a_scans, dx, dy);
    if (stats.area_mm2 > 0) stats.skeleton_per_mm = stats.skeleton_mm / stats.area_mm2;
    if (vessels > 0) stats.flux = flux / vessels;
    return stats;
}

std::string vessel_table(const VesselStats& stats, const std::string& slab) {
    const auto cell = [](double value) { return std::isnan(value) ? std::string() : fmt::format("{:.6g}", value); };
    return fmt::format(
        "{}: one slab; flux is relative\n"
        "slab,area_mm2,measured_percent,density_percent,skeleton_mm,skeleton_per_mm,flux\n"
        "{},{},{},{},{},{},{}\n",
        vessels_heading, slab, cell(stats.area_mm2), cell(stats.measured_percent), cell(stats.density_percent),
        cell(stats.skeleton_mm), cell(stats.skeleton_per_mm), cell(stats.flux));
}

bool is_own_vessel_table(const std::filesystem::path& path) {
    return begins_with(path, vessels_heading);
}

void remove_tails(Volume& flow, double gap_um) {
    const VolumeGrid& grid = flow.grid;
    require_angiogram(grid);
    const std::vector<float> values = finite_values(flow);
    const TailMask mask{std::max<std::int64_t>(1, std::llround(gap_um / grid.spacing_um[0]))};
    with_voxels(flow, [&](const auto* voxels) {
        using Code = std::remove_cv_t<std::remove_pointer_t<decltype(voxels)>>;
        auto* codes = reinterpret_cast<Code*>(flow.voxels.data());
        const Code nothing = nearest_code<Code>(-grid.offset / grid.scale);
        parallel_for(0, grid.b_scans, [&](std::int64_t b) {
            std::vector<float> medians(index(grid.depth));
            for (std::int64_t a = 0; a < grid.a_scans; ++a) {
                for (std::int64_t z = 0; z < grid.depth; ++z)
                    medians[index(z)] = Around(values, grid, b, a, z).median();
                Code* line = codes + (b * grid.a_scans + a) * grid.depth;
                mask(
                    grid.depth, [&](std::int64_t z) { return medians[index(z)]; },
                    [&](std::int64_t z, bool stays) {
                        if (!stays && line[z] == line[z]) line[z] = nothing;  // NaN stays unknown
                    });
            }
        });
    });
}

}  // namespace echolux
