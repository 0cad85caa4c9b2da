#include "app/jobs/calibrate_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "app/figure/figure_format.h"
#include "app/figure/plot_panels.h"
#include "app/jobs/calibration_plots.h"
#include "app/open/files_read.h"
#include "compute/calibrate/calibrate.h"
#include "compute/counted.h"
#include "compute/error.h"
#include "compute/plan/choices.h"
#include "compute/plan/tables.h"
#include "engine/io/number_file.h"

namespace echolux {
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

Recipe with(const DispersionFound& found, Recipe recipe) {
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
        fmt::format("counts, mean of {} of {}", counted(survey.lines(), "lines"), job.scan.filename().string()));
    return survey.lines();
}

NoiseFound run(const NoiseJob& job, Progress& progress) {
    check_outputs({own_calibration(job.output, CalibrationKind::noise_floor), {job.plot, is_own_figure}},
                  files_read(job.scan, job.settings), job.overwrites);
    check_plot_name(job.plot);
    const Scan scan = open_scan(job.scan, job.settings);
    const MeanProfile profile = mean_profile(scan, scan.spec(1), progress);
    const NoiseMean mean = mean_for(job, scan.recipe);
    const bool is_power = mean == NoiseMean::power;
    const std::vector<double> floor = is_power ? profile.root_mean_power() : profile.amplitude();
    const NoiseFound found{profile.lines(), mean, median_level_db(floor, job.scan),
                           scan.recipe.shaping == Shaping::none ? "dB of counts" : "dB"};
    const char* name = is_power ? "root mean power" : "mean amplitude";
    write_calibration(job.output, CalibrationKind::noise_floor, floor,
                      fmt::format("{} of {} of {}, amplitude of each depth bin", name, counted(found.lines, "A-scans"),
                                  job.scan.filename().string()));
    if (!job.plot.empty()) plot_noise(job.plot, floor, name, found.unit);
    return found;
}

// if 0, the wavelength is unknown.
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

MirrorsFound run(const MirrorJob& job, Progress& progress) {
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
    MirrorsFound found{calibrated(pair, job), std::move(warnings)};
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
    const DispersionFound found = searched_dispersion(plan, part.block, search, progress);
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

void require_sharp(const DispersionFound& found, const DispersionSearch& wanted, const std::string& where) {
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

DispersionFound searched_dispersion(const ReconstructionSpec& plan, const Block& block, const DispersionSearch& wanted,
                                    Progress& progress) {
    constexpr double steps = 100;
    double told = 0;
    progress.begin("searching", static_cast<std::int64_t>(steps), "%");
    const DispersionFound found = searched_dispersion(plan, block, wanted, [&](double done) {
        const double now = std::max(told, std::floor(done * steps));
        progress.advance(static_cast<std::int64_t>(now - told));
        told = now;
        return true;
    });
    progress.end();
    return found;
}

}  // namespace echolux
