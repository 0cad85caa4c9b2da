#include "app/jobs/calibration_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/figure/plot_panels.h"
#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/mirrors.h"
#include "compute/plan/describe.h"

namespace echolux {
namespace {

using Look = FigureCurve::Look;

constexpr double fine_bin = 1.0 / points_per_bin;

// ---- two mirrors

FigurePanel phase_panel(const MirrorCalibration& found) {
    const auto samples = found.residual_rad.size();
    std::vector<double> all;
    FigurePanel panel;
    panel.legend = LegendCorner::left;
    for (const std::size_t m : {0U, 1U}) {
        std::vector<double> phase = found.curves[m].phase_rad;
        for (double& p : phase) p -= found.curves[m].phase_rad.front();
        all.insert(all.end(), phase.begin(), phase.end());
        panel.curves.push_back(
            {fmt::format("mirror {}", m + 1), evenly(samples, 1), phase, m == 0 ? blue : vermilion, Look::line});
    }
    panel.aspect = 1.5;
    panel.heading = "Fringe phase";
    panel.across = axis_across("Sample", "", {0, static_cast<double>(samples - 1)});
    panel.downwards = axis_upwards("Phase", "rad", range_with_margin(all));
    return panel;
}

FigurePanel residual_panel(const MirrorCalibration& found) {
    const std::vector<double>& residual = found.residual_rad;
    const auto last = static_cast<double>(residual.size() - 1);
    const auto trimmed = static_cast<std::ptrdiff_t>(found.trimmed_share * static_cast<double>(residual.size()));
    const std::span<const double> counted(residual.begin() + trimmed, residual.end() - trimmed);
    double square = 0;
    for (const double r : counted) square += r * r / static_cast<double>(counted.size());
    const ValueRange range = range_with_margin(counted);
    const double max_phase = 1.5 * std::max(-range.low, range.high);
    FigurePanel panel =
        curve_panel(axis_across("Sample", "", {0, last}),
                    axis_upwards("Phase less polynomial", "rad", {-max_phase, max_phase}), 1.5, "Residual");
    panel.shaded = {{0, static_cast<double>(trimmed)}, {last - static_cast<double>(trimmed), last}};
    panel.curves.push_back(
        {fmt::format("rms {:.2g} rad", std::sqrt(square)), evenly(residual.size(), 1), residual, green, Look::line});
    return panel;
}

FigurePanel spread_panel(const MirrorCalibration& found, std::size_t m) {
    const MirrorCurves& curves = found.curves[m];
    const double around = std::max(12.0, 2.2 * found.fwhm_before[m]);
    const double highest = *std::max_element(
        curves.sharpened.begin() + static_cast<std::ptrdiff_t>(std::max(0.0, found.bin[m] - around) * points_per_bin),
        curves.sharpened.end());
    // Off centre, to leave room for the legend.
    const ValueRange bins{std::max(0.0, found.bin[m] - 0.7 * around), found.bin[m] + 2.0 * around};
    FigurePanel panel = curve_panel(axis_across("Depth bin", "", bins), axis_upwards("Level", "dB", {-60, 5}), 1.5,
                                    fmt::format("Mirror {}, FWHM in bins", m + 1));
    const auto add = [&](const char* name, double fwhm, const std::vector<double>& profile, const Colour& colour,
                         Look look) {
        panel.curves.push_back({fmt::format("{}: {:.2f}", name, fwhm), evenly(profile.size(), fine_bin),
                                decibels_of(profile, highest), colour, look});
    };
    add("as recorded", found.fwhm_before[m], curves.as_recorded, gray, Look::line);
    add("k map", found.fwhm_mapped[m], curves.mapped, vermilion, Look::dashed);
    add("and dispersion", found.fwhm[m], curves.sharpened, blue, Look::line);
    return panel;
}

// ---- a search

ProbedBlock amplitudes(const SearchedDispersion& searched, Recipe recipe, std::int64_t padding, const Block& b_scan) {
    recipe.method = Method::plain;
    recipe.zero_padding = padding;
    recipe.fixed_pattern = FixedPattern::none;
    recipe.average = Average::none;
    recipe.noise_floor = NoiseFloor::none;
    recipe.quantity = Quantity::amplitude;
    recipe.voxel = VoxelType::f32;
    recipe.levels = Levels::fixed;
    ReconstructionSpec plan = searched.plan;
    plan.calibration.noise_floor.clear();
    return probed(plan, recipe, b_scan);
}

const float* values_of(const ProbedBlock& probe) {
    return reinterpret_cast<const float*>(probe.voxels.data());
}

Figure picture_of(const ProbedBlock& probe, const Interval& rows) {
    Figure figure;
    figure.width = probe.grid.a_scans;
    figure.height = rows.end - rows.begin;
    for (std::int64_t z = rows.begin; z < rows.end; ++z) {
        for (std::int64_t a = 0; a < figure.width; ++a) {
            const float amplitude = values_of(probe)[a * probe.grid.depth + z];
            figure.values.push_back(20 * std::log10(std::max(amplitude, 1e-10F)));
        }
    }
    return figure;
}

std::vector<double> mean_level(const ProbedBlock& probe, const DispersionSearch& search) {
    const std::int64_t end = search.line_end > 0 ? search.line_end : probe.grid.a_scans;
    std::vector<double> level(static_cast<std::size_t>(probe.grid.depth), 0.0);
    for (std::int64_t a = search.line_begin; a < end; ++a) {
        const float* line = values_of(probe) + a * probe.grid.depth;
        for (std::size_t z = 0; z < level.size(); ++z) {
            const auto amplitude = static_cast<double>(line[z]);
            level[z] += amplitude * amplitude / static_cast<double>(end - search.line_begin);
        }
    }
    for (double& value : level) value = std::sqrt(value);
    return level;
}

// Returns the chosen depths with a margin.
Interval shown_rows(const DispersionSearch& search, std::int64_t bins) {
    const std::int64_t end = search.depth_end > 0 ? search.depth_end : bins;
    const std::int64_t margin = std::max<std::int64_t>(10, (end - search.depth_begin) / 4);
    return {std::max<std::int64_t>(0, search.depth_begin - margin), std::min(bins, end + margin)};
}

// Depths counted as in recipe.depth_begin and --region: finer than bins if the recipe pads.
struct DepthRows {
    double of_bin;

    FigureAxis axis(double first_bin, double end_bin) const {
        return {of_bin == 1 ? "Depth bin" : "Depth row", "", first_bin * of_bin, end_bin * of_bin};
    }
};

FigurePanel picture_panel(const Figure& figure, const Interval& rows, const DepthRows& scale, const FigureStyle& style,
                          const char* heading) {
    VolumeGrid grid;
    grid.unit = "dB";
    FigurePanel panel = b_scan_panel(figure, grid, style);
    panel.downwards = scale.axis(static_cast<double>(rows.begin) - 0.5, static_cast<double>(rows.end) - 0.5);
    panel.aspect = std::clamp(panel.aspect, 0.8, 2.0);
    panel.heading = heading;
    return panel;
}

FigurePanel level_panel(const std::vector<double>& before, const std::vector<double>& after,
                        const DispersionSearch& search, const Interval& rows, const DepthRows& scale) {
    const auto first = static_cast<std::ptrdiff_t>(rows.begin * points_per_bin);
    const auto last = static_cast<std::ptrdiff_t>(rows.end * points_per_bin);
    const std::int64_t bins = std::ssize(after) / points_per_bin;
    const std::int64_t begin = search.depth_begin > 0 ? search.depth_begin : first_row_past_zero_delay(bins);
    const std::int64_t end = search.depth_end > 0 ? search.depth_end : bins;
    const double highest =
        *std::max_element(after.begin() + begin * points_per_bin, after.begin() + end * points_per_bin);
    const std::vector<double> before_db = decibels_of(before, std::max(highest, 1e-30));
    const std::vector<double> after_db = decibels_of(after, std::max(highest, 1e-30));
    std::vector<double> shown(after_db.begin() + first, after_db.begin() + last);
    shown.insert(shown.end(), before_db.begin() + first, before_db.begin() + last);
    ValueRange range = range_with_margin(shown);
    range.high = std::min(range.high, 6.0);
    range.low = std::max(range.low, -70.0);
    FigurePanel panel = curve_panel(scale.axis(static_cast<double>(rows.begin), static_cast<double>(rows.end)),
                                    axis_upwards("Level", "dB", range), 3.2, "Mean of the A-scans that were looked at");
    panel.curves = {{"before", evenly(before.size(), fine_bin * scale.of_bin), before_db, vermilion, Look::dashed},
                    {"after", evenly(after.size(), fine_bin * scale.of_bin), after_db, blue, Look::line}};
    panel.shaded = {{-1.0, static_cast<double>(begin) * scale.of_bin},
                    {static_cast<double>(end) * scale.of_bin, static_cast<double>(bins + 1) * scale.of_bin}};
    return panel;
}

}  // namespace

void plot_noise(const std::filesystem::path& path, const std::vector<double>& floor, const std::string& name,
                const std::string& unit) {
    const std::vector<double> level = decibels_of(floor, 1);
    const std::int64_t begin = first_row_past_zero_delay(std::ssize(floor));
    ValueRange range = range_with_margin(std::span(level).subspan(static_cast<std::size_t>(begin)));
    const double min_span = std::max(6.0, range.high - range.low);  // so that a flat floor looks flat
    range = {range.low - min_span / 2, range.high + min_span / 2};
    FigurePanel panel = curve_panel(axis_across("Depth bin", "", {0, static_cast<double>(floor.size() - 1)}),
                                    axis_upwards("Level", unit, range), 2.5, "Noise floor");
    panel.curves.push_back({name, evenly(level.size(), 1), level, blue, Look::line});
    write_plot(path, {{panel}});
}

void plot_mirrors(const std::filesystem::path& path, const MirrorCalibration& found) {
    write_plot(path, {{phase_panel(found), residual_panel(found)}, {spread_panel(found, 0), spread_panel(found, 1)}});
}

void plot_dispersion(const std::filesystem::path& path, const SearchedDispersion& searched, const Block& b_scan) {
    const ProbedBlock before = amplitudes(searched, searched.before, 1, b_scan);
    const ProbedBlock after = amplitudes(searched, searched.after, 1, b_scan);
    const Interval rows = shown_rows(searched.search, before.grid.depth);
    const Figure figure = picture_of(after, rows);
    FigureStyle style;
    const GrayRange grays = percentile_range(figure);
    style.low = grays.black;
    style.high = grays.white;
    const auto level = [&](const Recipe& recipe) {
        return mean_level(amplitudes(searched, recipe, points_per_bin, b_scan), searched.search);
    };
    const DepthRows scale{static_cast<double>(searched.before.zero_padding)};
    write_plot(path, {{picture_panel(picture_of(before, rows), rows, scale, style, "Before"),
                       picture_panel(figure, rows, scale, style, "After")},
                      {level_panel(level(searched.before), level(searched.after), searched.search, rows, scale)}});
}

// ---- roll-off

namespace {

struct DepthScale {
    const char* label = "Depth";
    std::string unit;
    double of_bin = 1;
};

DepthScale scale_of(const RollOffFound& found) {
    if (found.bin_um <= 0) return {"Depth bin", "", 1};
    return {"Depth in air", "\u00b5m", found.bin_um};
}

FigurePanel fall_off_panel(const RollOffFound& found, const DepthScale& scale) {
    const double top = found.fall_off ? found.fall_off->at_zero_db : found.mirrors.front().reading.level_db;
    double lowest = top;
    FigurePanel panel;
    std::vector<double> depths, levels;
    for (const RolledMirror& mirror : found.mirrors) {
        std::vector<double> level = mirror.profile_db;
        for (double& value : level) value -= top;
        lowest = std::min(lowest, mirror.reading.level_db - mirror.reading.snr_db);
        panel.curves.push_back({"", evenly(level.size(), fine_bin * scale.of_bin), level, gray, Look::line});
        depths.push_back(mirror.reading.bin * scale.of_bin);
        levels.push_back(mirror.reading.level_db - top);
    }
    const auto range = static_cast<double>(found.bins) * scale.of_bin;
    if (found.fall_off) {
        std::vector<double> shares = evenly(201, 1.0 / 200), fitted;
        for (double& share : shares) {
            fitted.push_back(found.fall_off->level_db(share) - top);
            share *= range;
        }
        panel.curves.push_back({"fall-off", shares, fitted, vermilion, Look::dashed});
    }
    panel.curves.push_back({"mirrors", depths, levels, blue, Look::spots});
    panel.aspect = 2.5;
    const std::string unit = scale.unit.empty() ? "bins" : scale.unit;
    panel.heading = found.six_db_bin ? fmt::format("6 dB are lost at {:.4g} {} {}", *found.six_db_bin * scale.of_bin,
                                                   unit, found.extrapolation(scale.of_bin, unit))
                                     : "Mirrors over depth";
    panel.across = axis_across(scale.label, scale.unit, {0, range});
    panel.downwards = axis_upwards("Level", "dB", {std::max(-120.0, lowest - top - 10), 5});
    return panel;
}

FigurePanel spots_panel(const RollOffFound& found, const DepthScale& scale, const char* label, const std::string& unit,
                        const std::vector<double>& values, double min_span) {
    std::vector<double> depths;
    for (const RolledMirror& mirror : found.mirrors) depths.push_back(mirror.reading.bin * scale.of_bin);
    ValueRange range = range_with_margin(values);
    const double missing = std::max(0.0, min_span - (range.high - range.low)) / 2;
    range = {range.low - missing, range.high + missing};
    FigurePanel panel =
        curve_panel(axis_across(scale.label, scale.unit, {0, static_cast<double>(found.bins) * scale.of_bin}),
                    axis_upwards(label, unit, range), 1.5);
    panel.curves = {{"", depths, values, blue, Look::line}, {"", depths, values, blue, Look::spots}};
    return panel;
}

}  // namespace

void plot_roll_off(const std::filesystem::path& path, const RollOffFound& found) {
    const DepthScale scale = scale_of(found);
    std::vector<double> sensitivities, widths;
    for (const RolledMirror& mirror : found.mirrors) {
        sensitivities.push_back(mirror.sensitivity_db.value_or(mirror.reading.snr_db));
        widths.push_back(mirror.reading.fwhm_bins * scale.of_bin);
    }
    const std::string unit = scale.unit.empty() ? "bins" : scale.unit;
    write_plot(path, {{fall_off_panel(found, scale)},
                      {spots_panel(found, scale, found.mirrors.front().sensitivity_db ? "Sensitivity" : "SNR", "dB",
                                   sensitivities, 6),
                       spots_panel(found, scale, "Axial FWHM", unit, widths, 0.5 * widths.front())}});
}

}  // namespace echolux
