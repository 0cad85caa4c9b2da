#include "engine/analysis/depth_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "compute/calibrate/roll_off.h"
#include "compute/error.h"
#include "engine/analysis/figures.h"
#include "engine/io/voxel_value.h"

namespace echolux {
namespace {

std::vector<double> values_of(const Volume& volume, std::int64_t a_scan, std::int64_t b_scan) {
    const VolumeGrid& grid = volume.grid;
    std::vector<double> values(static_cast<std::size_t>(grid.depth));
    with_voxels(volume, [&](const auto* voxels) {
        const auto* line = voxels + (b_scan * grid.a_scans + a_scan) * grid.depth;
        std::transform(line, line + grid.depth, values.begin(),
                       [&](auto code) { return static_cast<double>(code) * grid.scale + grid.offset; });
    });
    return values;
}

bool is_in_db(const VolumeGrid& grid) {
    return grid.quantity == "db" || grid.unit.starts_with("dB");
}

// Converts a value of the volume to an amplitude.
double amplitude_of(const VolumeGrid& grid, double value) {
    if (is_in_db(grid)) return std::pow(10, value / 20);
    const double positive = std::max(value, 0.0);
    return grid.quantity == "intensity" ? std::sqrt(positive) : positive;
}

// Converts an amplitude to the unit of the volume.
double value_of_amplitude(const VolumeGrid& grid, double amplitude) {
    if (is_in_db(grid)) return 20 * std::log10(amplitude);
    return grid.quantity == "intensity" ? amplitude * amplitude : amplitude;
}

// Returns where the amplitude starts to rise again, searching from `top` with `step`, or the end of the data.
std::int64_t end_of_lobe(std::span<const double> amplitudes, std::int64_t top, std::int64_t step) {
    std::int64_t at = top;
    const auto value = [&](std::int64_t i) { return amplitudes[static_cast<std::size_t>(i)]; };
    while (at + step >= 0 && at + step < std::ssize(amplitudes) && value(at + step) <= value(at)) at += step;
    return at;
}

// Returns the largest amplitude outside the main lobe, relative to the peak, in dB.
double side_lobe_db(std::span<const double> amplitudes, double height) {
    const std::int64_t top = std::ranges::max_element(amplitudes) - amplitudes.begin();
    const std::int64_t before = end_of_lobe(amplitudes, top, -1), after = end_of_lobe(amplitudes, top, 1);
    double max = 0;
    for (std::int64_t i = 0; i < std::ssize(amplitudes); ++i) {
        if (i < before || i > after) max = std::max(max, amplitudes[static_cast<std::size_t>(i)]);
    }
    return max > 0 ? 20 * std::log10(max / height) : -std::numeric_limits<double>::infinity();
}

// Returns the depth in um, or the row if the spacing is unknown.
double depth_of(const VolumeGrid& grid, double row) {
    return grid.spacing_um[0] > 0 ? grid.first_depth_um + row * grid.spacing_um[0] : row;
}

// Returns the strongest echo of the given rows, which start at `begin`.
StrongestEcho echo_in(const VolumeGrid& grid, std::span<const double> amplitudes, std::int64_t begin) {
    const DepthPeak peak = strongest_peak(amplitudes, 0, std::ssize(amplitudes));
    const double row_um = grid.spacing_um[0] > 0 ? grid.spacing_um[0] : 1;
    StrongestEcho echo;
    echo.depth = depth_of(grid, peak.bin + static_cast<double>(begin));
    echo.height = value_of_amplitude(grid, peak.height);
    echo.fwhm = peak.fwhm * row_um;
    echo.side_lobe_db = peak.height > 0 ? side_lobe_db(amplitudes, peak.height) : 0;
    return echo;
}

// Returns the interval with an end of 0 replaced by `count`. Throws if it is not in the volume.
Interval part(const Interval& wanted, std::int64_t count, const char* what, const char* option) {
    const Interval all{wanted.begin, wanted.end == 0 ? count : wanted.end};
    if (all.begin >= 0 && all.begin < all.end && all.end <= count) return all;
    throw Error(ErrorCode::bad_setting, fmt::format("{} {}:{} are not in the volume", what, all.begin, all.end), option,
                fmt::format("the volume has 0:{}", count));
}

const char* length_name(const VolumeGrid& grid, const char* in_um, const char* in_rows) {
    return grid.spacing_um[0] > 0 ? in_um : in_rows;
}

// Returns a column name with its unit, quoted if the unit contains a comma, quote or newline.
std::string column(const std::string& name, const std::string& unit) {
    std::string text = unit.empty() ? name : name + " (" + unit + ")";
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    for (std::size_t i = text.find('"'); i != std::string::npos; i = text.find('"', i + 2)) text.insert(i, 1, '"');
    return '"' + text + '"';
}

}  // namespace

DepthProfile depth_profile(const Volume& volume, std::int64_t a_scan, std::int64_t b_scan) {
    const VolumeGrid& grid = volume.grid;
    check_b_scan(grid, b_scan);
    if (a_scan < 0 || a_scan >= grid.a_scans) {
        throw Error(ErrorCode::bad_setting, fmt::format("there is no A-scan {}", a_scan), "a_scan",
                    fmt::format("the volume has A-scans 0 to {}", grid.a_scans - 1));
    }
    DepthProfile profile{grid.spacing_um[0] > 0, {}, values_of(volume, a_scan, b_scan), grid.unit};
    for (std::int64_t row = 0; row < grid.depth; ++row) {
        profile.depth.push_back(depth_of(grid, static_cast<double>(row)));
    }
    return profile;
}

std::vector<StrongestEcho> strongest_echoes(const Volume& volume, Interval b_scans, Interval rows) {
    const VolumeGrid& grid = volume.grid;
    check_b_scan(grid, 0);
    b_scans = part(b_scans, grid.b_scans, "B-scans", "b_scan");
    rows = part(rows, grid.depth, "depth rows", "rows");
    std::vector<StrongestEcho> echoes;
    for (std::int64_t b = b_scans.begin; b < b_scans.end; ++b) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            std::vector<double> amplitudes = values_of(volume, a, b);
            for (double& value : amplitudes) value = amplitude_of(grid, value);
            const auto searched =
                std::span(amplitudes)
                    .subspan(static_cast<std::size_t>(rows.begin), static_cast<std::size_t>(rows.end - rows.begin));
            echoes.push_back(echo_in(grid, searched, rows.begin));
            echoes.back().b_scan = b;
            echoes.back().a_scan = a;
        }
    }
    return echoes;
}

std::string csv_of(const DepthProfile& profile) {
    std::string csv = fmt::format("{},{}\n", profile.is_um ? "depth_um" : "depth_row", column("value", profile.unit));
    for (std::size_t i = 0; i < profile.values.size(); ++i) {
        csv += fmt::format("{:.9g},{:.9g}\n", profile.depth[i], profile.values[i]);
    }
    return csv;
}

std::string csv_of(const std::vector<StrongestEcho>& echoes, const VolumeGrid& grid) {
    std::string csv = fmt::format("b_scan,a_scan,{},{},{},side_lobe_db\n", length_name(grid, "depth_um", "depth_row"),
                                  column("height", grid.unit), length_name(grid, "fwhm_um", "fwhm_rows"));
    for (const StrongestEcho& echo : echoes) {
        csv += fmt::format("{},{},{:.9g},{:.9g},{:.9g},{:.6g}\n", echo.b_scan, echo.a_scan, echo.depth, echo.height,
                           echo.fwhm, echo.side_lobe_db);
    }
    return csv;
}

}  // namespace echolux
