// Operation `calibrate_dispersion`: the dispersion that makes a B-scan sharpest.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/operations/calibrate_parts.h"
#include "app/settings/short_texts.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/tables.h"
#include "engine/interval.h"

namespace echolux {
namespace {

using CurveLook = FigureCurve::Look;

// ---- Plot of a B-scan before and after

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
                                    axis_upwards("Level", "dB", range), 3.2, "Mean of the searched A-scans");
    panel.curves = {
        {"before", evenly(before.size(), fine_bin * scale.of_bin), before_db, plot_colours::vermilion,
         CurveLook::dashed},
        {"after", evenly(after.size(), fine_bin * scale.of_bin), after_db, plot_colours::blue, CurveLook::line}};
    panel.shaded = {{-1.0, static_cast<double>(begin) * scale.of_bin},
                    {static_cast<double>(end) * scale.of_bin, static_cast<double>(bins + 1) * scale.of_bin}};
    return panel;
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

// ---- Checks

// An end of 0 means the last.
void check_within(const Interval& chosen, std::int64_t all, const char* what) {
    const std::int64_t end = chosen.end != 0 ? chosen.end : all;
    if (chosen.begin >= 0 && chosen.begin < end && end <= all) return;
    throw Error(ErrorCode::bad_setting, fmt::format("{} {}:{} are outside the B-scan", what, chosen.begin, end),
                "region", fmt::format("stay within 0:{}", all));
}

// Must be finite and not implausibly large.
void check_range(double range_rad) {
    constexpr double max_rad = 10'000;
    if (range_rad > 0 && range_rad <= max_rad) return;
    throw Error(ErrorCode::bad_setting, fmt::format("{} rad is not a valid range", range_rad), "range_rad",
                fmt::format("give more than 0 and at most {}", max_rad));
}

Recipe with(const DispersionResult& found, Recipe recipe) {
    recipe.dispersion = true;
    recipe.a2_rad = found.a2_rad;
    recipe.a3_rad = found.a3_rad;
    return recipe;
}

// Without a known sampling in k, the search also compensates for it, so the phase is not pure dispersion.
std::vector<std::string> doubts_about(const Calibration& calibration) {
    const bool has_grid =
        !calibration.wavelengths_nm.empty() || !calibration.k_positions.empty() || !calibration.k_polynomial.empty();
    if (has_grid) return {};
    return {
        "the scan has no k map: its samples are assumed to be evenly spaced in k. If they are not, find the k map "
        "first (`calibrate k`)"};
}

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

// ---- Work

struct CalibrateDispersion {
    VolumeInput scan;
    std::int64_t b_scan = -1;  // of the first volume; -1: the middle one
    std::string region;
    double range_rad = DispersionSearch{}.range_rad;
    std::int64_t lines = DispersionSearch{}.lines;
    OperationOutput output, plot;

    DispersionResult found;

    static void describe(OperationParts<CalibrateDispersion>& parts);

    void run(Context& context) {
        check_range(range_rad);
        read_region();
        const std::string& name = scan.names.front();
        const Scan opened = open_scan(name, scan.settings);
        const std::int64_t number = checked_b_scan(opened);
        SpectraReader reader(opened);
        const RawPart part = read_part(reader, number, 1);
        const ReconstructionSpec plan = opened.spec(1);
        const DispersionSearch search = search_in(opened, plan, context.backend);
        found = searched_dispersion(plan, part.block, search, context.progress);
        require_sharp(found, search, name);
        const Recipe recipe = with(found, opened.recipe);
        if (output.is_wanted()) {
            const KGrid grid = k_grid(opened.calibration, opened.geometry.samples);
            write_calibration(context, output, CalibrationKind::dispersion,
                              dispersion_phase(recipe, opened.calibration, grid),
                              fmt::format("phase theta in rad on the uniform k grid, sharpest for {}", scan.name()));
        }
        context.write(plot, ".png", [&](const std::filesystem::path& path) {
            plot_dispersion(path, {plan, opened.recipe, recipe, search}, part.block);
        });
        context.answer(text_of_result());
        context.warn(doubts_about(opened.calibration));
    }

    // Parses "A0:A1,Z0:Z1". Either half of an interval may be empty.
    void read_region() {
        if (region.empty()) return;
        const std::size_t comma = region.find(',');
        if (comma == std::string::npos) {
            throw Error(ErrorCode::bad_setting, "'" + region + "' is not valid", "region",
                        "write A0:A1,Z0:Z1: A-scans, then depth rows, where 0: is all of them");
        }
        std::tie(a_scans.begin, a_scans.end) = interval_argument(region.substr(0, comma), "region");
        std::tie(rows.begin, rows.end) = interval_argument(region.substr(comma + 1), "region");
    }

    std::int64_t checked_b_scan(const Scan& opened) const {
        const std::int64_t number = b_scan >= 0 ? b_scan : middle_b_scan(opened);
        if (number >= opened.geometry.b_scans) {
            throw Error(ErrorCode::bad_setting, fmt::format("there is no B-scan {}", number), "b_scan",
                        fmt::format("the scan has B-scans 0 to {}", opened.geometry.b_scans - 1));
        }
        require_data(opened, number);
        return number;
    }

    // Defaults to whole B-scans and the depths that the recipe keeps.
    DispersionSearch search_in(const Scan& opened, const ReconstructionSpec& plan, const BackendChoice& backend) const {
        const std::int64_t padding = opened.recipe.zero_padding;
        const bool is_chosen = rows.begin != 0 || rows.end != 0;
        const Interval kept = is_chosen ? rows : Interval{opened.recipe.depth_begin, opened.recipe.depth_end};
        if (is_chosen) check_within(rows, opened.geometry.samples / 2 * padding, "depth rows");
        check_within(a_scans, planned_grid(plan).a_scans, "A-scans");
        DispersionSearch search;
        search.range_rad = range_rad;
        search.lines = lines;
        search.depth_begin = kept.begin / padding;
        search.depth_end = (kept.end + padding - 1) / padding;
        search.line_begin = a_scans.begin;
        search.line_end = a_scans.end;
        search.processor = backend;
        return search;
    }

    std::string text_of_result() const;
    static void describe_results(OperationParts<CalibrateDispersion>& parts);

    Interval a_scans;  // `end` 0: to the last
    Interval rows;     // counted like recipe.depth_begin; 0:0: the depths that the recipe keeps
};

// The result with its uncertainty, then the TOML lines. With an output the phase is in its file, and the coefficients
// in the recipe must be 0.
std::string CalibrateDispersion::text_of_result() const {
    std::string text =
        fmt::format("# entropy over depth: {:.4f} before, {:.4f} now\n", found.entropy_before, found.entropy);
    if (found.a2_error_rad) {
        text +=
            fmt::format("# standard errors: a2 {:.2f} rad, a3 {:.2f} rad, by leaving out a quarter of the A-scans\n",
                        *found.a2_error_rad, *found.a3_error_rad);
    }
    if (found.rival)
        text +=
            fmt::format("# second best: a2 {:.1f} rad, entropy {:.4f}\n", found.rival->a2_rad, found.rival->entropy);
    if (found.a2_of_halves_rad) {
        text += fmt::format("# a2 from the shallower / deeper half of the signal: {:.1f} / {:.1f} rad\n",
                            (*found.a2_of_halves_rad)[0], (*found.a2_of_halves_rad)[1]);
    }
    if (found.fixed_lines > 0) text += fmt::format("# fixed lines removed before the search: {}\n", found.fixed_lines);
    if (!output.is_wanted())
        return text + fmt::format("[recipe]\na2_rad = {:.4f}\na3_rad = {:.4f}", found.a2_rad, found.a3_rad);
    text += fmt::format(
        "# a2_rad {:.4f}, a3_rad {:.4f}, which the file combines with what the scan had already; leave out gdd_fs2 and "
        "tod_fs3\n",
        found.a2_rad, found.a3_rad);
    text += fmt::format("[calibration]\ndispersion = \"{}\"\ndispersion_holds = \"theta\"\n\n", pasted(output));
    return text + "[recipe]\na2_rad = 0\na3_rad = 0";
}

void CalibrateDispersion::describe(OperationParts<CalibrateDispersion>& parts) {
    constexpr Effect effect = Effect::file;
    constexpr std::int64_t many = 1'000'000'000;
    parts.info.command = "calibrate dispersion";
    parts.info.summary = "Find the dispersion that makes a B-scan sharpest";
    parts.info.examples = {"scan=scan.toml", "scan=scan.toml output=dispersion.csv plot=dispersion.png"};
    parts.info.may_write_nothing = true;
    parts.input({.name = "scan", .help = "scan TOML", .is_file = true}, &CalibrateDispersion::scan);
    parts
        .argument(integer("b_scan", &CalibrateDispersion::b_scan, -1, many, "", effect, "B-scan of the first volume")
                      .special(-1, "the middle one")
                      .written_as("N"))
        .argument(text("region", &CalibrateDispersion::region, effect,
                       "A-scans and depth rows around one reflector, with room for its blur; the rest is ignored [all]")
                      .written_as("A0:A1,Z0:Z1"))
        .argument(number("range_rad", &CalibrateDispersion::range_rad, 0, 1e12, "rad", effect,
                         "largest a2 and a3 to try, of either sign")
                      .positive()
                      .written_as("RAD"))
        .argument(integer("lines", &CalibrateDispersion::lines, 1, many, "", effect, "maximum number of A-scans to use")
                      .written_as("N"))
        .output(calibration_output<CalibrationKind::dispersion>(
                    "output", "file for the phase on the k grid, instead of printed coefficients"),
                &CalibrateDispersion::output)
        .output(plot_output("also draw the B-scan and its mean A-scan before and after"), &CalibrateDispersion::plot)
        .uses_backend("reconstructs");
    describe_results(parts);
}

void CalibrateDispersion::describe_results(OperationParts<CalibrateDispersion>& parts) {
    using R = DispersionResult;
    const auto add = [&](std::string_view name, std::string_view unit, std::string_view help, auto of) {
        parts.result(name, unit, help, [of](const CalibrateDispersion& one) { return of(one.found); });
    };
    add("a2_rad", "rad", "dispersion of second order", [](const R& one) { return one.a2_rad; });
    add("a3_rad", "rad", "dispersion of third order", [](const R& one) { return one.a3_rad; });
    add("entropy_before", "", "entropy over depth with the coefficients of the scan",
        [](const R& one) { return one.entropy_before; });
    add("entropy", "", "entropy over depth with the coefficients that were found",
        [](const R& one) { return one.entropy; });
    add("fixed_lines", "", "number of fixed lines removed before the search",
        [](const R& one) { return one.fixed_lines; });
    add("standard_errors.a2_rad", "rad", "standard error of a2_rad, by leaving out a quarter of the A-scans",
        [](const R& one) { return one.a2_error_rad; });
    add("standard_errors.a3_rad", "rad", "standard error of a3_rad", [](const R& one) { return one.a3_error_rad; });
    const auto rival = [&](std::string_view name, std::string_view unit, std::string_view help,
                           double DispersionRival::*member) {
        add(name, unit, help,
            [member](const R& one) { return one.rival ? std::optional<double>((*one.rival).*member) : std::nullopt; });
    };
    rival("second_best.a2_rad", "rad", "a2_rad of another minimum of the entropy", &DispersionRival::a2_rad);
    rival("second_best.entropy", "", "entropy of that minimum", &DispersionRival::entropy);
}

}  // namespace

ECHOLUX_OPERATION(calibrate_dispersion, CalibrateDispersion)

}  // namespace echolux
