#include "engine/angiography/flow_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "compute/error.h"
#include "compute/parallel_for.h"
#include "compute/steps/projection.h"
#include "engine/io/own_files.h"
#include "engine/io/voxel_value.h"

namespace echolux {
namespace {

constexpr std::string_view vessels_heading = "# echolux vessels";
constexpr float unmeasured = std::numeric_limits<float>::quiet_NaN();

// Throws unless the volume is an angiogram with known lateral spacings.
void require_angiogram(const VolumeGrid& grid) {
    if (!is_angiogram(grid)) {
        throw Error(ErrorCode::bad_setting,
                    "vessels are told by angiography, and the volume holds " +
                        (grid.quantity.empty() ? std::string("something else") : grid.quantity),
                    "volume", "give what `reconstruct` writes as flow, with flow.method = complex_decorrelation");
    }
    if (grid.spacing_um[0] > 0 && grid.spacing_um[1] > 0 && (grid.b_scans == 1 || grid.spacing_um[2] > 0)) return;
    throw Error(ErrorCode::bad_setting, "areas need the spacing of voxels, and none is known", "volume",
                "give scan.spacing_a_um and spacing_b_um");
}

// Returns the values of all voxels; NaN and infinity become 0.
std::vector<float> numbers_of(const Volume& volume) {
    std::vector<float> values(static_cast<std::size_t>(volume.grid.voxels()));
    with_voxels(volume, [&](const auto* codes) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double value = static_cast<double>(codes[i]) * volume.grid.scale + volume.grid.offset;
            values[i] = std::isfinite(value) ? static_cast<float>(value) : 0.0F;
        }
    });
    return values;
}

// The existing voxels of the 3 x 3 x 3 neighbourhood of a voxel, itself included.
struct Around {
    std::array<float, 27> values{};
    std::size_t count = 0;

    Around(const std::vector<float>& volume, const VolumeGrid& grid, std::int64_t b, std::int64_t a, std::int64_t z) {
        for (std::int64_t y = std::max<std::int64_t>(0, b - 1); y <= std::min(grid.b_scans - 1, b + 1); ++y) {
            for (std::int64_t x = std::max<std::int64_t>(0, a - 1); x <= std::min(grid.a_scans - 1, a + 1); ++x) {
                const std::int64_t line = (y * grid.a_scans + x) * grid.depth;
                for (std::int64_t i = std::max<std::int64_t>(0, z - 1); i <= std::min(grid.depth - 1, z + 1); ++i)
                    values[count++] = volume[static_cast<std::size_t>(line + i)];
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
        return 3 * static_cast<std::size_t>(std::count_if(values.begin(), end, [&](float v) { return v > above; })) >=
               count;
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
            const auto place = static_cast<std::size_t>(b * grid.a_scans + a);
            if (std::isnan(vessels[place])) continue;
            double ones = 0, all = 0;
            for (std::int64_t y = std::max<std::int64_t>(0, b - reach_b); y <= std::min(grid.b_scans - 1, b + reach_b);
                 ++y) {
                for (std::int64_t x = std::max<std::int64_t>(0, a - reach_a);
                     x <= std::min(grid.a_scans - 1, a + reach_a); ++x) {
                    const float one = vessels[static_cast<std::size_t>(y * grid.a_scans + x)];
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
    const std::vector<float> values = numbers_of(flow);
    const auto above = static_cast<float>(spec.above);
    VesselMaps maps;
    maps.vessels.assign(static_cast<std::size_t>(grid.a_scans * grid.b_scans), unmeasured);
    maps.flux = maps.vessels;
    parallel_for(0, grid.b_scans, [&](std::int64_t b) {
        if (!is_measured(values, grid, b)) return;
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            const auto place = static_cast<std::size_t>(b * grid.a_scans + a);
            const std::optional<RowRange> rows = rows_between(surfaces, slab, grid, place);
            if (!rows) continue;
            double sum = 0, count = 0;
            for (std::int64_t z = rows->begin; z < rows->end; ++z) {
                const float value = values[place * static_cast<std::size_t>(grid.depth) + static_cast<std::size_t>(z)];
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
    const std::vector<float> values = numbers_of(flow);
    const TailMask mask{std::max<std::int64_t>(1, std::llround(gap_um / grid.spacing_um[0]))};
    with_voxels(flow, [&](const auto* voxels) {
        using Code = std::remove_cv_t<std::remove_pointer_t<decltype(voxels)>>;
        auto* codes = reinterpret_cast<Code*>(flow.voxels.data());
        const Code nothing = nearest_code<Code>(-grid.offset / grid.scale);
        parallel_for(0, grid.b_scans, [&](std::int64_t b) {
            std::vector<float> medians(static_cast<std::size_t>(grid.depth));
            for (std::int64_t a = 0; a < grid.a_scans; ++a) {
                for (std::int64_t z = 0; z < grid.depth; ++z)
                    medians[static_cast<std::size_t>(z)] = Around(values, grid, b, a, z).median();
                Code* line = codes + (b * grid.a_scans + a) * grid.depth;
                mask(
                    grid.depth, [&](std::int64_t z) { return medians[static_cast<std::size_t>(z)]; },
                    [&](std::int64_t z, bool stays) {
                        if (!stays && line[z] == line[z]) line[z] = nothing;  // NaN stays unknown
                    });
            }
        });
    });
}

}  // namespace echolux
