#include "app/jobs/calibrate_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "app/figure/figure_page.h"
#include "app/open/open_volume.h"
#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/mirrors.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/choices.h"
#include "compute/plan/describe.h"
#include "compute/plan/tables.h"
#include "compute/plural.h"
#include "compute/steps/sample.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/number_file.h"
#include "engine/io/output_rule.h"

namespace echolux {

// ---- Input: B-scans of a scan in memory, and mean spectra from scans or files.

namespace {

// Returns true for a file of numbers, false for a scan.
bool is_spectrum_file(const SpectrumSource& source) {
    const std::string ending = lower_ending(source);
    return ending == ".csv" || ending == ".txt" || ending == ".f32" || ending == ".f64";
}

// B-scan positions of the first volume, without headers and gaps of the file.
struct RawPart {
    std::vector<std::byte> bytes;
    Block block;
};

RawPart read_part(SpectraReader& reader, std::int64_t first, std::int64_t b_scans) {
    RawPart part;
    part.bytes.resize(index(b_scans * reader.bytes_per_b_scan()));
    reader.read(0, first, b_scans, part.bytes);
    part.block.data = part.bytes.data();
    part.block.bytes = std::ssize(part.bytes);
    part.block.first_b_scan = first;
    part.block.b_scans = b_scans;
    return part;
}

// Throws Error{bad_file} if this B-scan of the first volume is missing in the recording.
void require_data(const Scan& scan, std::int64_t b_scan) {
    if (!is_missing(scan.missing, 0, b_scan)) return;
    throw Error(ErrorCode::bad_file, fmt::format("B-scan {} has no data: the recording lost it", b_scan),
                scan.path.string(), "choose another B-scan, or record it again");
}

// Calls take(block) for every recorded B-scan of the first volume.
template <class Take>
void for_each_b_scan(const Scan& scan, Progress& progress, const Take& take) {
    SpectraReader reader(scan);
    const BScanRun run = run_from(scan.missing, 0, 0, scan.geometry.b_scans);
    if (run.is_missing && run.end == scan.geometry.b_scans) require_data(scan, 0);
    progress.begin("averaging", scan.geometry.b_scans, "B-scans");
    for (std::int64_t b = 0; b < scan.geometry.b_scans; ++b) {
        if (!is_missing(scan.missing, 0, b)) take(read_part(reader, b, 1).block);
        progress.advance(1);
    }
    progress.end();
}

// Surveys the first volume. Throws Error{bad_file, cancelled}.
SpectrumSurvey survey_of(const Scan& scan, Progress& progress) {
    SpectrumSurvey survey(scan.format, scan.geometry);
    for_each_b_scan(scan, progress, [&](const Block& block) {
        survey.add(block, {0, lines_of(block, scan.geometry)});
    });
    return survey;
}

// Averages the scan's first volume, reconstructed one B-scan at a time. Throws what MeanProfile throws and
// Error{bad_file, cancelled}.
MeanProfile mean_profile(const Scan& scan, const ReconstructionSpec& plan, Progress& progress) {
    MeanProfile profile(plan);
    for_each_b_scan(scan, progress, [&](const Block& block) { profile.add(block); });
    return profile;
}

// Returns counts [samples]. `samples`: required length, that of `like`; 0: any. Throws Error{bad_file, cancelled} and
// what open_scan() throws.
std::vector<double> mean_spectrum(const SpectrumSource& source, const char* what, std::int64_t samples,
                                  const char* like, Progress& progress) {
    const std::vector<double> counts =
        is_spectrum_file(source) ? read_calibration(source, 0, what) : survey_of(open_scan(source), progress).mean();
    if (samples == 0 || std::ssize(counts) == samples) return counts;
    throw Error(ErrorCode::bad_file, fmt::format("has {}, {} has {}", plural(counts.size(), "samples"), like, samples),
                source.string(), "record all spectra with the same settings of the camera");
}

}  // namespace

// ---- Plots of results and their quality. All throw what write_plot() throws.

namespace {

using CurveLook = FigureCurve::Look;

constexpr double fine_bin = 1.0 / points_per_bin;

FigurePanel phase_panel(const MirrorCalibration& found) {
    const auto samples = found.residual_rad.size();
    std::vector<double> all;
    FigurePanel panel;
    panel.legend = LegendCorner::left;
    for (const std::size_t m : {0U, 1U}) {
        std::vector<double> phase = found.curves[m].phase_rad;
        for (double& p : phase) p -= found.curves[m].phase_rad.front();
        all.insert(all.end(), phase.begin(), phase.end());
        panel.curves.push_back({fmt::format("mirror {}", m + 1), evenly(samples, 1), phase,
                                m == 0 ? plot_colours::blue : plot_colours::vermilion, CurveLook::line});
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
    panel.curves.push_back({fmt::format("rms {:.2g} rad", std::sqrt(square)), evenly(residual.size(), 1), residual,
                            plot_colours::green, CurveLook::line});
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
                         CurveLook look) {
        panel.curves.push_back({fmt::format("{}: {:.2f}", name, fwhm), evenly(profile.size(), fine_bin),
                                decibels_of(profile, highest), colour, look});
    };
    add("as recorded", found.fwhm_before[m], curves.as_recorded, plot_colours::gray, CurveLook::line);
    add("k map", found.fwhm_mapped[m], curves.mapped, plot_colours::vermilion, CurveLook::dashed);
    add("and dispersion", found.fwhm[m], curves.sharpened, plot_colours::blue, CurveLook::line);
    return panel;
}

struct SearchedDispersion {
    ReconstructionSpec plan;
    Recipe before, after;
    DispersionSearch search;
};

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
    std::vector<double> level(index(probe.grid.depth), 0.0);
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
    panel.curves = {
        {"before", evenly(before.size(), fine_bin * scale.of_bin), before_db, plot_colours::vermilion,
         CurveLook::dashed},
        {"after", evenly(after.size(), fine_bin * scale.of_bin), after_db, plot_colours::blue, CurveLook::line}};
    panel.shaded = {{-1.0, static_cast<double>(begin) * scale.of_bin},
                    {static_cast<double>(end) * scale.of_bin, static_cast<double>(bins + 1) * scale.of_bin}};
    return panel;
}

// `floor`: amplitude of each depth bin, in counts. `name`: the kind of mean.
void plot_noise(const std::filesystem::path& path, const std::vector<double>& floor, const std::string& name,
                const std::string& unit) {
    const std::vector<double> level = decibels_of(floor, 1);
    const std::int64_t begin = first_row_past_zero_delay(std::ssize(floor));
    ValueRange range = range_with_margin(std::span(level).subspan(index(begin)));
    const double min_span = std::max(6.0, range.high - range.low);  // so that a flat floor looks flat
    range = {range.low - min_span / 2, range.high + min_span / 2};
    FigurePanel panel = curve_panel(axis_across("Depth bin", "", {0, static_cast<double>(floor.size() - 1)}),
                                    axis_upwards("Level", unit, range), 2.5, "Noise floor");
    panel.curves.push_back({name, evenly(level.size(), 1), level, plot_colours::blue, CurveLook::line});
    write_plot(path, {{panel}});
}

// Plots fringe phases, residuals of the polynomial, and both point spread functions before and after.
void plot_mirrors(const std::filesystem::path& path, const MirrorCalibration& found) {
    write_plot(path, {{phase_panel(found), residual_panel(found)}, {spread_panel(found, 0), spread_panel(found, 1)}});
}

// Plots a B-scan before and after, and the mean level over depth of the lines that were searched.
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

}  // namespace

// ---- Backgrounds, mirrors, dispersion

namespace {

Output own_calibration(const std::filesystem::path& path, CalibrationKind kind) {
    return {path,
            [kind](const std::filesystem::path& there) { return is_own_calibration(there, kind); },
            {".csv", ".txt", ".f32", ".f64"}};
}

NoiseMean mean_for(const NoiseJob& job, const Recipe& recipe) {
    return job.mean.value_or(recipe.noise_floor == NoiseFloor::power ? NoiseMean::power : NoiseMean::amplitude);
}

double median_level_db(const std::vector<double>& floor, const std::filesystem::path& scan) {
    std::vector<double> levels(floor.begin() + first_row_past_zero_delay(std::ssize(floor)), floor.end());
    std::nth_element(levels.begin(), levels.begin() + std::ssize(levels) / 2, levels.end());
    const double median = levels[levels.size() / 2];
    if (median > 0) return 20 * std::log10(median);
    throw Error(
        ErrorCode::bad_file, "contains no noise", scan.string(),
        "record light without a sample; A-scans that are all alike contain no noise once their mean is removed");
}

// An end of 0 means the last.
void check_within(const Interval& chosen, std::int64_t all, const char* what) {
    const std::int64_t end = chosen.end != 0 ? chosen.end : all;
    if (chosen.begin >= 0 && chosen.begin < end && end <= all) return;
    throw Error(ErrorCode::bad_setting, fmt::format("{} {}:{} lie outside of the B-scan", what, chosen.begin, end),
                "region", fmt::format("stay within 0:{}", all));
}

// Defaults to whole B-scans and the depths that the recipe keeps.
DispersionSearch search_in(const DispersionJob& job, const Scan& scan, const ReconstructionSpec& plan) {
    DispersionSearch search = job.search;
    const std::int64_t padding = scan.recipe.zero_padding;
    const bool is_chosen = job.rows.begin != 0 || job.rows.end != 0;
    const Interval rows = is_chosen ? job.rows : Interval{scan.recipe.depth_begin, scan.recipe.depth_end};
    if (is_chosen) check_within(job.rows, scan.geometry.samples / 2 * padding, "depth rows");
    check_within(job.a_scans, planned_grid(plan).a_scans, "A-scans");
    search.depth_begin = rows.begin / padding;
    search.depth_end = (rows.end + padding - 1) / padding;
    search.line_begin = job.a_scans.begin;
    search.line_end = job.a_scans.end;
    return search;
}

// Errors name the files instead of fields of the pair.
MirrorCalibration calibrated(const MirrorPair& pair, const MirrorJob& job) {
    try {
        return calibrated_by_mirrors(pair);
    } catch (const Error& error) {
        const std::string first = job.mirror_1.string(), second = job.mirror_2.string();
        const std::string where = error.where() == "mirror 1"   ? first
                                  : error.where() == "mirror 2" ? second
                                                                : first + " and " + second;
        throw Error(ErrorCode::bad_file, error.problem(), where, error.remedy());
    }
}

// Must be finite and not implausibly large.
void check_range(double range_rad) {
    constexpr double max_rad = 10'000;
    if (range_rad > 0 && range_rad <= max_rad) return;
    throw Error(ErrorCode::bad_setting, fmt::format("{} rad is not a valid range", range_rad), "range",
                fmt::format("give more than 0 and at most {}", max_rad));
}

void check_length(double length, const char* option) {
    if (std::isfinite(length) && length >= 0) return;
    throw Error(ErrorCode::bad_setting, fmt::format("{} is not a length", length), option, "give a positive number");
}

Recipe with(const DispersionResult& found, Recipe recipe) {
    recipe.dispersion = true;
    recipe.a2_rad = found.a2_rad;
    recipe.a3_rad = found.a3_rad;
    return recipe;
}

}  // namespace

std::int64_t run(const MeanSpectrumJob& job, Progress& progress) {
    check_outputs({own_calibration(job.output, CalibrationKind::spectrum)}, files_read(job.scan, job.settings),
                  job.overwrites);
    const Scan scan = open_scan(job.scan, job.settings);
    const SpectrumSurvey survey = survey_of(scan, progress);
    write_calibration(
        job.output, CalibrationKind::spectrum, survey.mean(),
        fmt::format("counts, mean of {} of {}", plural(survey.lines(), "lines"), job.scan.filename().string()));
    return survey.lines();
}

NoiseResult run(const NoiseJob& job, Progress& progress) {
    check_outputs({own_calibration(job.output, CalibrationKind::noise_floor), {job.plot, is_own_figure}},
                  files_read(job.scan, job.settings), job.overwrites);
    check_plot_name(job.plot);
    const Scan scan = open_scan(job.scan, job.settings);
    const MeanProfile profile = mean_profile(scan, scan.spec(1), progress);
    const NoiseMean mean = mean_for(job, scan.recipe);
    const bool is_power = mean == NoiseMean::power;
    const std::vector<double> floor = is_power ? profile.root_mean_power() : profile.amplitude();
    const NoiseResult found{profile.lines(), mean, median_level_db(floor, job.scan),
                            scan.recipe.shaping == Shaping::none ? "dB of counts" : "dB"};
    const char* name = is_power ? "root mean power" : "mean amplitude";
    write_calibration(job.output, CalibrationKind::noise_floor, floor,
                      fmt::format("{} of {} of {}, amplitude of each depth bin", name, plural(found.lines, "A-scans"),
                                  job.scan.filename().string()));
    if (!job.plot.empty()) plot_noise(job.plot, floor, name, found.unit);
    return found;
}

// Returns the wavelength in nm, converted with a warning if it was given in another unit. 0: unknown.
double centre_wavelength_nm(double given, std::vector<std::string>& warnings) {
    check_length(given, "centre_wavelength");
    if (given == 0) return 0;
    const std::optional<WavelengthUnit> unit = wavelength_unit_of({&given, 1});
    if (!unit) {
        throw Error(ErrorCode::bad_setting, fmt::format("{} nm is not a wavelength of OCT", given), "centre_wavelength",
                    fmt::format("give {} to {} nm", min_wavelength_nm, max_wavelength_nm));
    }
    if (unit->nm != 1) {
        warnings.push_back(
            fmt::format("`centre_wavelength`: {} is taken as {}, {:.6g} nm", given, unit->name, given * unit->nm));
    }
    return given * unit->nm;
}

// A correct k map makes both mirrors equally sharp, and sharper than without it.
std::vector<std::string> doubts_about(const MirrorCalibration& found) {
    constexpr double max_ratio = 1.4, max_growth = 1.05;
    std::vector<std::string> doubts;
    for (const std::size_t m : {0U, 1U}) {
        if (found.fwhm_before[m] <= 0 || found.fwhm[m] <= max_growth * found.fwhm_before[m]) continue;
        doubts.push_back(
            fmt::format("mirror {}: FWHM {:.2f} bins as recorded, {:.2f} with the calibration: it makes "
                        "the mirror wider (check `sides`, the background and the choice of mirrors)",
                        m + 1, found.fwhm_before[m], found.fwhm[m]));
    }
    const auto [narrow, wide] = std::minmax(found.fwhm[0], found.fwhm[1]);
    if (narrow > 0 && wide > max_ratio * narrow) {
        doubts.push_back(
            fmt::format("FWHM changes over depth: {:.2f} bins at bin {:.1f}, {:.2f} at bin {:.1f} (a k map "
                        "that fits keeps it; check `sides`, and measure more depths with `calibrate rolloff`)",
                        found.fwhm[0], found.bin[0], found.fwhm[1], found.bin[1]));
    }
    return doubts;
}

MirrorResult run(const MirrorJob& job, Progress& progress) {
    check_outputs({own_calibration(job.k_map, CalibrationKind::k_map),
                   own_calibration(job.dispersion, CalibrationKind::dispersion),
                   {job.plot, is_own_figure}},
                  files_of({job.mirror_1, job.mirror_2, job.background, job.dark}), job.overwrites);
    check_plot_name(job.plot);
    check_length(job.displacement_um, "displacement");
    std::vector<std::string> warnings;
    const double wavelength_nm = centre_wavelength_nm(job.centre_wavelength, warnings);
    const std::vector<double> first = mean_spectrum(job.mirror_1, "mirror 1", 0, "", progress);
    const auto like_first = [&](const SpectrumSource& source, const char* what) {
        return mean_spectrum(source, what, std::ssize(first), "mirror 1", progress);
    };
    MirrorPair pair;
    pair.mirrors = {first, like_first(job.mirror_2, "mirror 2")};
    pair.background = like_first(job.background, "background");
    if (!job.dark.empty()) pair.dark = like_first(job.dark, "dark");
    pair.sides = job.sides;
    pair.k_falls = job.k_falls;
    pair.displacement_um = job.displacement_um;
    pair.centre_wavelength_nm = wavelength_nm;
    MirrorResult found{calibrated(pair, job), std::move(warnings)};
    std::ranges::move(doubts_about(found), std::back_inserter(found.warnings));
    write_calibration(job.k_map, CalibrationKind::k_map, found.k_positions,
                      "sample position of each point of the uniform k grid");
    if (!job.dispersion.empty()) {
        write_calibration(job.dispersion, CalibrationKind::dispersion, found.dispersion_rad,
                          "phase theta in rad on the uniform k grid");
    }
    if (!job.plot.empty()) plot_mirrors(job.plot, found);
    return found;
}

// Without a known sampling in k, the search also compensates for it, so the phase is not pure dispersion.
std::vector<std::string> doubts_about(const Calibration& calibration) {
    const bool has_grid =
        !calibration.wavelengths_nm.empty() || !calibration.k_positions.empty() || !calibration.k_polynomial.empty();
    if (has_grid) return {};
    return {
        "the scan has no k map: its samples were taken as evenly spaced in k. Unless they are, find the k map "
        "first (`calibrate k`)"};
}

namespace {

// Returns the B-scan with data nearest to the middle of the first volume.
std::int64_t middle_b_scan(const Scan& scan) {
    const std::int64_t middle = scan.geometry.b_scans / 2;
    for (std::int64_t away = 0; away < scan.geometry.b_scans; ++away) {
        for (const std::int64_t b_scan : {middle - away, middle + away}) {
            const bool is_in = b_scan >= 0 && b_scan < scan.geometry.b_scans;
            if (is_in && !is_missing(scan.missing, 0, b_scan)) return b_scan;
        }
    }
    return middle;
}

}  // namespace

DispersionOfScan run(const DispersionJob& job, Progress& progress) {
    check_outputs({own_calibration(job.output, CalibrationKind::dispersion), {job.plot, is_own_figure}},
                  files_read(job.scan, job.settings), job.overwrites);
    check_plot_name(job.plot);
    check_range(job.search.range_rad);
    const Scan scan = open_scan(job.scan, job.settings);
    const std::int64_t b_scan = job.b_scan.value_or(middle_b_scan(scan));
    if (b_scan < 0 || b_scan >= scan.geometry.b_scans) {
        throw Error(ErrorCode::bad_setting, fmt::format("there is no B-scan {}", b_scan), "b_scan",
                    fmt::format("they count from 0 to {}", scan.geometry.b_scans - 1));
    }
    require_data(scan, b_scan);
    SpectraReader reader(scan);
    const RawPart part = read_part(reader, b_scan, 1);
    const ReconstructionSpec plan = scan.spec(1);
    const DispersionSearch search = search_in(job, scan, plan);
    const DispersionResult found = searched_dispersion(plan, part.block, search, progress);
    require_sharp(found, search, job.scan.string());
    const Recipe recipe = with(found, scan.recipe);
    if (!job.output.empty()) {
        const KGrid grid = k_grid(scan.calibration, scan.geometry.samples);
        write_calibration(
            job.output, CalibrationKind::dispersion, dispersion_phase(recipe, scan.calibration, grid),
            fmt::format("phase theta in rad on the uniform k grid, sharpest for {}", job.scan.filename().string()));
    }
    if (!job.plot.empty()) {
        plot_dispersion(job.plot, {plan, scan.recipe, recipe, search}, part.block);
    }
    return {found, doubts_about(scan.calibration)};
}

void require_sharp(const DispersionResult& found, const DispersionSearch& wanted, const std::string& where) {
    if (is_sharp(found, wanted.range_rad)) return;
    const char* remedy = "choose one reflector with `region`, more A-scans with `lines`, or a wider `range`";
    const auto refuse = [&](const std::string& problem, const char* how) {
        throw Error(ErrorCode::bad_file, problem, where, how);
    };
    const bool is_finite = std::isfinite(found.a2_rad) && std::isfinite(found.a3_rad);
    if (is_finite && !has_sharp_depths(found)) refuse("shows no reflector that a phase makes sharper", remedy);
    const std::string doubt = is_finite ? doubt_about(found, wanted.range_rad) : "";
    if (!doubt.empty()) refuse(doubt, "choose one reflector with `region`, or widen `range`; see also the k map");
    refuse(fmt::format("gets no sharper: entropy over depth {:.4f} before, {:.4f} at best", found.entropy_before,
                       found.entropy),
           "choose one reflector with `region`, and a `range` around what is expected");
}

DispersionResult searched_dispersion(const ReconstructionSpec& plan, const Block& block, const DispersionSearch& wanted,
                                     Progress& progress) {
    constexpr double steps = 100;
    double reported = 0;
    progress.begin("searching", static_cast<std::int64_t>(steps), "%");
    const DispersionResult found = searched_dispersion(plan, block, wanted, [&](double done) {
        const double now = std::max(reported, std::floor(done * steps));
        progress.advance(static_cast<std::int64_t>(now - reported));
        reported = now;
        return true;
    });
    progress.end();
    return found;
}

// ---- Plot of the roll-off

namespace {

struct PlotScale {
    const char* label = "Depth";
    std::string unit;
    double of_bin = 1;
};

PlotScale scale_of(const RollOffResult& found) {
    if (found.bin_um <= 0) return {"Depth bin", "", 1};
    return {"Depth in air", "\u00b5m", found.bin_um};
}

FigurePanel fall_off_panel(const RollOffResult& found, const PlotScale& scale) {
    const double top = found.fall_off ? found.fall_off->at_zero_db : found.mirrors.front().reading.level_db;
    double lowest = top;
    FigurePanel panel;
    std::vector<double> depths, levels;
    for (const RolledMirror& mirror : found.mirrors) {
        std::vector<double> level = mirror.profile_db;
        for (double& value : level) value -= top;
        lowest = std::min(lowest, mirror.reading.level_db - mirror.reading.snr_db);
        panel.curves.push_back(
            {"", evenly(level.size(), fine_bin * scale.of_bin), level, plot_colours::gray, CurveLook::line});
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
        panel.curves.push_back({"fall-off", shares, fitted, plot_colours::vermilion, CurveLook::dashed});
    }
    panel.curves.push_back({"mirrors", depths, levels, plot_colours::blue, CurveLook::spots});
    panel.aspect = 2.5;
    const std::string unit = scale.unit.empty() ? "bins" : scale.unit;
    panel.heading = found.six_db_bin ? fmt::format("6 dB are lost at {:.4g} {} {}", *found.six_db_bin * scale.of_bin,
                                                   unit, found.extrapolation(scale.of_bin, unit))
                                     : "Mirrors over depth";
    panel.across = axis_across(scale.label, scale.unit, {0, range});
    panel.downwards = axis_upwards("Level", "dB", {std::max(-120.0, lowest - top - 10), 5});
    return panel;
}

FigurePanel spots_panel(const RollOffResult& found, const PlotScale& scale, const char* label, const std::string& unit,
                        const std::vector<double>& values, double min_span) {
    std::vector<double> depths;
    for (const RolledMirror& mirror : found.mirrors) depths.push_back(mirror.reading.bin * scale.of_bin);
    ValueRange range = range_with_margin(values);
    const double missing = std::max(0.0, min_span - (range.high - range.low)) / 2;
    range = {range.low - missing, range.high + missing};
    FigurePanel panel =
        curve_panel(axis_across(scale.label, scale.unit, {0, static_cast<double>(found.bins) * scale.of_bin}),
                    axis_upwards(label, unit, range), 1.5);
    panel.curves = {{"", depths, values, plot_colours::blue, CurveLook::line},
                    {"", depths, values, plot_colours::blue, CurveLook::spots}};
    return panel;
}

// Plots all mirrors over depth with the fitted roll-off, and the SNR or sensitivity and width of each.
void plot_roll_off(const std::filesystem::path& path, const RollOffResult& found) {
    const PlotScale scale = scale_of(found);
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

}  // namespace

// ---- Roll-off

namespace {

// Counts of several lines, one after another.
struct Lines {
    std::vector<float> counts;
    std::int64_t samples = 0;

    std::int64_t count() const { return std::ssize(counts) / samples; }
    std::vector<double> mean() const {
        std::vector<double> mean(index(samples));
        for (std::size_t i = 0; i < counts.size(); ++i) mean[i % mean.size()] += double{counts[i]};
        for (double& value : mean) value /= static_cast<double>(count());
        return mean;
    }
};

// Lines at each A-scan position, or of each acquired B-scan, of the first volume.
std::vector<Lines> lines_of(const Scan& scan, MirrorPer per, Progress& progress) {
    constexpr std::int64_t max_mirrors = 4096;
    const ScanGeometry& geometry = scan.geometry;
    const bool by_line = per == MirrorPer::a_scan;
    const std::int64_t lines = by_line ? geometry.a_repeats : geometry.lines_per_b_scan();
    const std::int64_t mirrors = geometry.frames_per_volume() * (by_line ? geometry.a_scans : 1);
    if (mirrors > max_mirrors) {
        throw Error(ErrorCode::bad_file, fmt::format("holds {} depths, at most {} are read", mirrors, max_mirrors),
                    scan.path.string(), "a scan of a mirror at one depth needs no `each`");
    }
    SpectraReader reader(scan);
    std::vector<Lines> all;
    progress.begin("reading", geometry.b_scans, "B-scans");
    for (std::int64_t b = 0; b < geometry.b_scans; ++b) {
        require_data(scan, b);
        const RawPart part = read_part(reader, b, 1);
        LineFormat(scan.format, geometry).with_reader([&](const auto& read) {
            for (std::int64_t line = 0; line < echolux::lines_of(part.block, geometry); ++line) {
                if (line % lines == 0) all.push_back({{}, geometry.samples});
                const std::byte* samples = line_at(part.block, scan.format, geometry, line);
                for (std::int64_t p = 0; p < geometry.samples; ++p) {
                    all.back().counts.push_back(static_cast<float>(read(samples, p)));
                }
            }
        });
        progress.advance(1);
    }
    progress.end();
    return all;
}

// Describes the lines in the layout of a scan.
ReconstructionSpec for_lines(ReconstructionSpec plan, const Lines& lines) {
    plan.format = {};
    plan.format.sample_format = SampleFormat::f32;
    plan.geometry = {};
    plan.geometry.samples = lines.samples;
    plan.geometry.a_scans = lines.count();
    plan.geometry.b_scans = 1;
    return plan;
}

class Mirrors {
  public:
    Mirrors(const RollOffJob& job, Progress& progress) : job_(job), progress_(progress) {
        if (!job.scan.empty()) scan_ = open_scan(job.scan, job.settings);
    }

    void read(const SpectrumSource& source, RollOffResult& found) {
        if (is_spectrum_file(source)) return read_file(source, found);
        const Scan mirror = open_scan(source, scan_ ? std::vector<std::string>{} : job_.settings);
        const ReconstructionSpec plan = plan_of(mirror);
        if (job_.mirror_per == MirrorPer::source) {
            return add(source.string(), plan, background(plan.geometry.samples), found,
                       [&](const ReconstructionSpec& of) { return mean_profile(mirror, of, progress_); });
        }
        const std::vector<Lines> mirrors = lines_of(mirror, job_.mirror_per, progress_);
        const std::vector<std::vector<double>> backgrounds = backgrounds_of(mirrors, source);
        for (std::size_t i = 0; i < mirrors.size(); ++i) {
            const char* what = job_.mirror_per == MirrorPer::a_scan ? "A-scan" : "B-scan";
            add_lines(fmt::format("{} {} {}", source.string(), what, i), plan, mirrors[i],
                      backgrounds[backgrounds.size() > 1 ? i : 0], found);
        }
    }

  private:
    ReconstructionSpec plan_of(const Scan& mirror) const {
        ReconstructionSpec plan = mirror.spec(1);
        if (scan_) {
            plan.calibration = scan_->calibration;
            plan.recipe = scan_->recipe;
            plan.nufft = scan_->nufft;
        }
        return plan;
    }

    void read_file(const SpectrumSource& source, RollOffResult& found) {
        if (!scan_) {
            throw Error(ErrorCode::bad_setting, "is a spectrum without a recipe to process it", source.string(),
                        "name a scan with calibration and recipe as `scan`");
        }
        const std::vector<double> counts =
            mean_spectrum(source, "mirror", scan_->geometry.samples, "the scan", progress_);
        const std::int64_t samples = std::ssize(counts);
        add_lines(source.string(), scan_->spec(1), {{counts.begin(), counts.end()}, samples}, background(samples),
                  found);
    }

    void add_lines(const std::string& name, const ReconstructionSpec& plan, const Lines& lines,
                   const std::vector<double>& background, RollOffResult& found) {
        add(name, for_lines(plan, lines), background, found, [&](const ReconstructionSpec& of) {
            MeanProfile profile(of);
            Block block;
            block.data = reinterpret_cast<const std::byte*>(lines.counts.data());
            block.bytes = std::ssize(lines.counts) * static_cast<std::int64_t>(sizeof(float));
            block.b_scans = 1;
            profile.add(block);
            return profile;
        });
    }

    template <class ProfileOf>
    void add(const std::string& name, const ReconstructionSpec& given, const std::vector<double>& background,
             RollOffResult& found, const ProfileOf& profile_of) {
        const MirrorAtDepth seen = mirror_at_depth(given, background, name, job_.depths, profile_of);
        if (found.bins != 0 && seen.bins != found.bins) {
            throw Error(ErrorCode::bad_file, "has another number of samples than the mirrors before it", name,
                        "record all mirrors with the same settings of the camera");
        }
        found.bins = seen.bins;
        found.bin_um = seen.bin_um;
        RolledMirror mirror{name, seen.lines, seen.reading, seen.is_opposite, {}, {}};
        if (job_.attenuation_db) mirror.sensitivity_db = mirror.reading.snr_db + *job_.attenuation_db;
        for (const double a : seen.amplitude) mirror.profile_db.push_back(20 * std::log10(std::max(a, 1e-15)));
        if (mirror.reading.nearer_bin) {
            found.warnings.push_back(fmt::format(
                "{}: a higher peak stands at bin {:.1f}, within the first 5 % of the range; if it is the mirror, "
                "choose it with `depths`",
                name, *mirror.reading.nearer_bin));
        }
        found.mirrors.push_back(std::move(mirror));
    }

    // Read once, since all mirrors have the same number of samples.
    const std::vector<double>& background(std::int64_t samples) {
        if (!job_.background.empty() && std::ssize(background_) != samples) {
            background_ = mean_spectrum(job_.background, "background", samples, "a mirror", progress_);
        }
        return background_;
    }

    // One per mirror, or one for all.
    std::vector<std::vector<double>> backgrounds_of(const std::vector<Lines>& mirrors, const SpectrumSource& source) {
        const std::int64_t samples = mirrors.front().samples;
        if (job_.background.empty() || is_spectrum_file(job_.background)) return {background(samples)};
        const std::vector<Lines> references = lines_of(open_scan(job_.background), job_.mirror_per, progress_);
        if (references.size() == 1 || references.front().samples != samples) return {background(samples)};
        if (references.size() != mirrors.size()) {
            throw Error(ErrorCode::bad_file,
                        fmt::format("holds {}, {} holds {}", plural(references.size(), "references"), source.string(),
                                    plural(mirrors.size(), "mirrors")),
                        job_.background.string(), "record one for each, or give the mean of them as a file");
        }
        std::vector<std::vector<double>> backgrounds;
        for (const Lines& lines : references) backgrounds.push_back(lines.mean());
        return backgrounds;
    }

    const RollOffJob& job_;
    Progress& progress_;
    std::optional<Scan> scan_;
    std::vector<double> background_;
};

// `found.mirrors` is sorted by depth.
void require_different_depths(const RollOffResult& found) {
    const auto same = std::ranges::adjacent_find(found.mirrors, [&](const RolledMirror& a, const RolledMirror& b) {
        return b.reading.bin - a.reading.bin < min_share_between * static_cast<double>(found.bins);
    });
    if (same == found.mirrors.end()) return;
    throw Error(ErrorCode::bad_file,
                fmt::format("is at the same depth as {}, bin {:.2f}", same->name, same->reading.bin),
                std::next(same)->name, "record each mirror at its own depth, and list each once");
}

// Smallest span of the depths, as a share of the range, from which the roll-off can be determined.
constexpr double min_share_of_range = 0.1;

// Returns "667.0 um", or "bin 12.0" if the size of a bin is unknown.
std::string depth_text(const RollOffResult& found, double bin) {
    return found.bin_um > 0 ? fmt::format("{:.1f} um", bin * found.bin_um) : fmt::format("bin {:.1f}", bin);
}

// Relative depths and levels of mirrors.
struct Levels {
    std::vector<double> shares, db;
};

Levels levels_of(const RollOffResult& found, const std::vector<Outlier>& left_out) {
    Levels levels;
    for (std::size_t i = 0; i < found.mirrors.size(); ++i) {
        if (std::ranges::find(left_out, i, &Outlier::mirror) != left_out.end()) continue;
        levels.shares.push_back(found.mirrors[i].reading.bin / static_cast<double>(found.bins));
        levels.db.push_back(found.mirrors[i].reading.level_db);
    }
    return levels;
}

void take_fall_off(RollOffResult& found, const FallOff& fall_off) {
    found.fall_off = fall_off;
    found.six_db_bin.reset();
    if (const auto share = fall_off.share_at_loss(6)) found.six_db_bin = *share * static_cast<double>(found.bins);
}

// Reports mirrors that do not follow the fall-off of the others, and the fit to the others.
void warn_of_outliers(RollOffResult& found, const std::vector<Outlier>& outliers, const FallOff& others,
                      bool is_left_out) {
    for (const Outlier& outlier : outliers) {
        const RolledMirror& mirror = found.mirrors[outlier.mirror];
        found.warnings.push_back(fmt::format("{}: its peak at {} lies {:.1f} dB {} the fall-off of the others{}",
                                             mirror.name, depth_text(found, mirror.reading.bin),
                                             std::abs(outlier.from_fit_db), outlier.from_fit_db < 0 ? "below" : "above",
                                             is_left_out ? "; it is left out of the fit" : ""));
    }
    if (is_left_out) return;
    const auto share = others.share_at_loss(6);
    found.warnings.push_back(
        fmt::format("without {}: {}, residual of the fit {:.2f} dB rms", outliers.size() > 1 ? "them" : "it",
                    share ? "6 dB are lost at " + depth_text(found, *share * static_cast<double>(found.bins))
                          : std::string("6 dB are not lost within the range"),
                    others.rms_db));
}

void fit_fall_off(RollOffResult& found, bool leaves_out_outliers) {
    constexpr double max_rms_db = 1;
    if (found.mirrors.size() < 2) return;
    require_different_depths(found);
    const double span_bins = found.mirrors.back().reading.bin - found.mirrors.front().reading.bin;
    if (span_bins < min_share_of_range * static_cast<double>(found.bins)) return;
    const Levels all = levels_of(found, {});
    take_fall_off(found, fitted_fall_off(all.shares, all.db));
    const std::vector<Outlier> outliers = fall_off_outliers(all.shares, all.db);
    if (!outliers.empty()) {
        const Levels kept = levels_of(found, outliers);
        const FallOff others = fitted_fall_off(kept.shares, kept.db);
        if (leaves_out_outliers) take_fall_off(found, others);
        warn_of_outliers(found, outliers, others, leaves_out_outliers);
    } else if (found.fall_off->rms_db > max_rms_db) {
        found.warnings.push_back(
            fmt::format("residual of the roll-off fit: {:.2f} dB rms; check each mirror's peak in the plot",
                        found.fall_off->rms_db));
    }
}

constexpr const char* table_heading =
    "mirror,lines,depth_bin,depth_um,level_db,snr_db,sensitivity_db,fwhm_bins,fwhm_um,side\n";

// Unknown lengths and sensitivities are left empty.
std::string csv_of(const RollOffResult& found) {
    std::string text = table_heading;
    const auto um = [&](double bins) { return found.bin_um > 0 ? fmt::format("{:.4f}", bins * found.bin_um) : ""; };
    for (const RolledMirror& mirror : found.mirrors) {
        const MirrorReading& r = mirror.reading;
        const std::string sensitivity = mirror.sensitivity_db ? fmt::format("{:.3f}", *mirror.sensitivity_db) : "";
        text += fmt::format("\"{}\",{},{:.4f},{},{:.3f},{:.3f},{},{:.4f},{},{}\n", mirror.name, mirror.lines, r.bin,
                            um(r.bin), r.level_db, r.snr_db, sensitivity, r.fwhm_bins, um(r.fwhm_bins),
                            mirror.is_opposite ? -1 : 1);
    }
    return text;
}

}  // namespace

std::string RollOffResult::extrapolation(double of_bin, const std::string& unit) const {
    const double deepest = mirrors.back().reading.bin;
    if (!six_db_bin || *six_db_bin <= deepest) return {};
    return fmt::format("(extrapolated; deepest mirror at {:.1f} {})", deepest * of_bin, unit);
}

RollOffResult run(const RollOffJob& job, Progress& progress) {
    FileNames inputs = job.mirrors;
    inputs.insert(inputs.end(), {job.scan, job.background});
    const auto is_own_table = [](const std::filesystem::path& path) { return begins_with(path, table_heading); };
    check_outputs({{job.output, is_own_table, {".csv", ".txt"}}, {job.plot, is_own_figure}}, files_of(inputs),
                  job.overwrites);
    check_plot_name(job.plot);
    if (job.attenuation_db && !(*job.attenuation_db >= 0 && *job.attenuation_db <= 200)) {
        throw Error(ErrorCode::bad_setting, fmt::format("{} dB is not a loss in the sample arm", *job.attenuation_db),
                    "attenuation_db", "give 0 to 200");
    }
    RollOffResult found;
    Mirrors mirrors(job, progress);
    if (job.depths.end != 0 && job.depths.end <= job.depths.begin) {
        throw Error(ErrorCode::bad_setting, "no depth is left to look for mirrors in", "depths",
                    "give Z0:Z1 in bins, the first smaller than the second");
    }
    for (const SpectrumSource& source : job.mirrors) mirrors.read(source, found);
    std::ranges::sort(found.mirrors, {}, [](const RolledMirror& mirror) { return mirror.reading.bin; });
    fit_fall_off(found, job.leaves_out_outliers);
    if (found.mirrors.size() == 1)
        found.warnings.push_back("one mirror has a level and a width, but no roll-off: give scans at other depths");
    if (!job.output.empty()) write_text(job.output, csv_of(found));
    if (!job.plot.empty()) plot_roll_off(job.plot, found);
    return found;
}

}  // namespace echolux
