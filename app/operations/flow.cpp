// Operation `flow`: measures the flow through a vessel in ul/s over time, and the heart rate, from velocity volumes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "app/figure/figure_page.h"
#include "app/operations/operation.h"
#include "app/operations/series_parts.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "engine/analysis/intensity.h"
#include "engine/flow/flow_measurement.h"

namespace echolux {
namespace {

// ---- Table of values

// First line of the table; identifies the format.
constexpr std::string_view flow_heading = "# echolux cross-section";

std::string cell(double value) {
    return std::isfinite(value) ? fmt::format("{:.6g}", value) : std::string();
}

std::string table_of(const MeasuredFlow& measured) {
    std::string text = fmt::format(
        "{}: through A-scan {:g}, B-scan {:g}, row {:g}; {:.2f} degrees to the beam, which leaves {:.1f} % uncertain; "
        "error_ul_s is of noise alone\n",
        flow_heading, measured.place.a_scan, measured.place.b_scan, measured.place.row, 90 - measured.course.tilt_deg,
        100 * measured.angle_error);
    if (measured.heart.is_found()) {
        text += fmt::format("# heart rate {:.4g} Hz, standard error {:.2g} Hz, pulsatility {:.3g}\n", measured.heart.hz,
                            measured.heart.error_hz, measured.heart.pulsatility);
    } else {
        text += fmt::format("# no heart rate: {}\n", measured.heart.problem);
    }
    text += "volume,b_scan,time_s,flow_ul_s,error_ul_s,mean_mm_s,area_mm2,wrapped_percent,reason\n";
    for (const FlowRow& row : measured.rows) {
        const FlowValue& value = row.value;
        text += fmt::format("{},{},{},{},{},{},{},{:.3g},{}\n", row.volume,
                            value.plane >= 0 ? std::to_string(value.plane) : std::string(), cell(row.time_s),
                            cell(value.flow_ul_s), cell(value.error_ul_s), cell(value.mean_mm_s), cell(value.area_mm2),
                            100 * value.wrapped, name_of(value.reason));
    }
    return text;
}

bool is_own_flow_table(const std::filesystem::path& path) {
    return begins_with(path, flow_heading);
}

// ---- Figure of the flow: over time with the heartbeat, and along the vessel.

using CurveLook = FigureCurve::Look;

ValueRange from_zero(const std::vector<double>& values) {
    ValueRange range = range_with_margin(values);
    range.low = std::min(range.low, 0.0);
    range.high = std::max(1.3 * range.high, 0.0);  // room for the legend above
    return range;
}

FigureCurve beat_of(const MeasuredFlow& measured, const ValueRange& time) {
    constexpr int points = 400;
    FigureCurve curve{fmt::format("{:.3g} Hz, {:.0f} per minute", measured.heart.hz, 60 * measured.heart.hz),
                      {},
                      {},
                      plot_colours::vermilion,
                      CurveLook::line};
    for (int k = 0; k <= points; ++k) {
        curve.x.push_back(time.low + (time.high - time.low) * k / points);
        curve.y.push_back(measured.heart.at(curve.x.back()));
    }
    return curve;
}

FigurePanel over_time(const MeasuredFlow& measured) {
    std::vector<double> times, flow;
    for (const FlowRow& row : measured.rows) {
        if (!std::isfinite(row.time_s) || !std::isfinite(row.value.flow_ul_s)) continue;
        times.push_back(row.time_s);
        flow.push_back(row.value.flow_ul_s);
    }
    const ValueRange range = range_with_margin(times);
    FigurePanel panel = curve_panel(axis_across("Time", "s", range), axis_upwards("Flow", "µl/s", from_zero(flow)), 2.4,
                                    "Through the section");
    panel.curves.push_back({measured.volumes == std::ssize(measured.rows) ? "each volume" : "each B-scan", times, flow,
                            plot_colours::blue, CurveLook::spots});
    if (measured.heart.is_found()) panel.curves.push_back(beat_of(measured, range));
    return panel;
}

FigurePanel over_place(const MeasuredFlow& measured) {
    std::vector<double> places, flow;
    for (const FlowValue& value : measured.along) {
        if (!std::isfinite(value.flow_ul_s)) continue;
        places.push_back(value.place_um);
        flow.push_back(value.flow_ul_s);
    }
    const ValueRange range = range_with_margin(places);
    FigurePanel panel = curve_panel(axis_across("Along the vessel", "µm", range),
                                    axis_upwards("Flow", "µl/s", from_zero(flow)), 2.4, "Mean over time");
    panel.curves.push_back({"each plane", places, flow, plot_colours::blue, CurveLook::spots});
    const double mean = measured.flow_ul_s;
    panel.curves.push_back({fmt::format("{:.3g} ± {:.2g} µl/s", mean, measured.error_ul_s),
                            {range.low, range.high},
                            {mean, mean},
                            plot_colours::vermilion,
                            CurveLook::dashed});
    return panel;
}

// Throws what write_plot() throws.
void plot_flow(const std::filesystem::path& path, const MeasuredFlow& measured) {
    std::vector<FigureRow> rows;
    const bool has_time = measured.rows.size() > 1 && std::isfinite(measured.rows.back().time_s);
    if (has_time) rows.push_back({over_time(measured)});
    rows.push_back({over_place(measured)});
    write_plot(path, rows);
}

// ---- Views: arrows or streaks along the vessel, in the format of `render` and sessions.

constexpr std::string_view arrows_heading = "# Arrows along a vessel";

// Six numbers per arrow, from and to, in micrometres.
std::string view_with_arrows(const std::vector<double>& arrows) {
    return fmt::format("{}, in the direction of its flow\n[view]\nflow_arrows = [{:.1f}]\n", arrows_heading,
                       fmt::join(arrows, ", "));
}

// Shows one speed along the vessel, the median of its sections: all sections carry the same flow, but their measured
// widths differ. Over time, the flow of each volume or B-scan relative to its mean. Throws Error{bad_setting} if no
// section has a speed.
std::string view_with_streaks(const MeasuredFlow& measured) {
    constexpr double min_mm_s = 1e-3;
    std::vector<double> speeds, points, pulse;
    for (const FlowValue& value : measured.along) {
        const double mm_s = std::abs(value.flow_ul_s) / value.area_mm2;
        if (std::isfinite(mm_s)) speeds.push_back(mm_s);
    }
    if (speeds.empty()) {
        throw Error(ErrorCode::bad_setting, "no section of the vessel has a speed", "streaks", "leave them out");
    }
    const auto middle = speeds.begin() + std::ssize(speeds) / 2;
    std::ranges::nth_element(speeds, middle);
    for (const auto& [depth, a_scan, b_scan] : measured.course_points)
        points.insert(points.end(), {1, depth, a_scan, b_scan, std::max(*middle, min_mm_s)});
    std::map<double, double> by_time;
    for (const FlowRow& row : measured.rows) {
        if (row.value.reason == FlowReason::ok && std::isfinite(row.time_s))
            by_time[row.time_s] = std::max(0.0, row.value.flow_ul_s / measured.flow_ul_s);
    }
    if (by_time.size() > 1) {
        for (const auto& [time_s, share] : by_time) pulse.insert(pulse.end(), {time_s, share});
    }
    return fmt::format("{}, with the blood in it\n[view]\nflow_streaks = [{:.5g}]\nstreak_pulse = [{:.5g}]\n",
                       arrows_heading, fmt::join(points, ", "), fmt::join(pulse, ", "));
}

bool is_own_flow_view(const std::filesystem::path& path) {
    return begins_with(path, arrows_heading);
}

// Point of a vessel in "80,64,210.5": A-scan, B-scan, depth row. Returns nullopt for an empty text.
std::optional<VoxelPosition> position_in(const std::string& text, const char* key) {
    if (text.empty()) return std::nullopt;
    VoxelPosition place;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%lf,%lf,%lf%c", &place.a_scan, &place.b_scan, &place.row, &rest) != 3 ||
        !std::isfinite(place.a_scan + place.b_scan + place.row)) {
        throw Error(ErrorCode::bad_setting, "expected A,B,ROW, got " + text, key,
                    "give A-scan, B-scan and depth row of a point in the vessel, e.g. 64,40,210");
    }
    return place;
}

// ---- Operation

struct Flow {
    VolumeInput velocity, structure;
    std::string through, towards;
    FlowEach each = FlowEach::volume;
    double step_s = 0;
    std::vector<double> times_s;
    std::int64_t arrow_count = 6;
    CrossSectionRecipe cross_section;
    OperationOutput output, plot, arrows, streaks;

    MeasuredFlow measured;

    static void describe(OperationParts<Flow>& parts);

    void run(Context& context) {
        const FlowSpec spec = flow_spec();
        for (const std::string& name : velocity.names) refuse_scan(name);
        const VolumeSeries velocities(velocity);
        VelocityVolumes volumes = volumes_of(velocities);
        std::optional<VolumeSeries> structures;
        if (structure.is_given()) add_structure(volumes, structures.emplace(structure));
        measured = measured_flow(volumes, spec, context.progress);
        context.warn(measured.warnings);
        say_result(context);
        if (output.is_wanted()) context.write(output, table_of(measured));
        if (plot.is_wanted())
            context.write(plot, ".png", [this](const std::filesystem::path& path) { plot_flow(path, measured); });
        if (arrows.is_wanted()) context.write(arrows, view_with_arrows(measured.arrows));
        if (streaks.is_wanted()) context.write(streaks, view_with_streaks(measured));
    }

    FlowSpec flow_spec() const {
        FlowSpec spec{position_in(through, "through"), position_in(towards, "towards"), each, arrow_count,
                      cross_section};
        if (spec.towards && !spec.through) {
            throw Error(ErrorCode::bad_setting, "needs the point from which the axis starts", "towards",
                        "give `through` as well");
        }
        return spec;
    }

    static void refuse_scan(const std::string& name) {
        if (!is_scan_name(name)) return;
        throw Error(ErrorCode::bad_setting, "is a scan: flow is measured in volumes of velocities", name,
                    "`reconstruct` makes them, with flow.method = doppler");
    }

    // The result reads from `series`.
    VelocityVolumes volumes_of(const VolumeSeries& series) const {
        for (const VolumeSeries::Point& point : series.points()) {
            const std::string file = std::filesystem::path(point.name).filename().string();
            with_file_context(file, "volume", [&] { require_velocities(point.grid); });
            require_alike(series.grid(), point.grid, point.name);
        }
        VelocityVolumes all;
        all.grid = series.grid();
        all.count = std::ssize(series.points());
        all.read = [&series](std::int64_t number) {
            return axial_velocities(*series.points().at(index(number)).read());
        };
        const SeriesTimes times = times_of(series, step_s, times_s);
        all.step_s = times.step_s;
        all.times_s = times.times_s;
        return all;
    }

    // Structure is read as linear intensity only when it is needed.
    static void add_structure(VelocityVolumes& volumes, const VolumeSeries& series) {
        const auto count = std::ssize(series.points());
        for (const VolumeSeries::Point& point : series.points())
            require_structure_of(volumes, point.grid, count, point.name);
        volumes.structure = series.grid();
        volumes.power = [&series](std::int64_t number) {
            return linear_intensity(*series.points().at(index(number)).read());
        };
    }

    void say_result(Context& context) const {
        const VesselCourse& course = measured.course;
        context.say(
            fmt::format("vessel at A-scan {:.0f}, B-scan {:.0f}, row {:.0f}: {:.2f} ± {:.2f} degrees to the beam, {}",
                        measured.place.a_scan, measured.place.b_scan, measured.place.row, 90 - course.tilt_deg,
                        measured.angle_error_deg,
                        course.is_given ? "as given" : fmt::format("by a fit to {}", plural(course.planes, "planes"))));
        const std::string error = std::isfinite(measured.error_ul_s) ? fmt::format("± {:.2g}", measured.error_ul_s)
                                                                     : std::string("(error unknown)");
        const std::string en_face =
            std::isfinite(measured.en_face_ul_s)
                ? fmt::format("; {:.4g} ul/s through planes of constant depth", measured.en_face_ul_s)
                : std::string();
        context.say(fmt::format("flow {:.4g} {} ul/s, mean of {}{}", measured.flow_ul_s, error,
                                plural(std::ssize(measured.rows), "values"), en_face));
        const HeartRate& heart = measured.heart;
        context.say(heart.is_found()
                        ? fmt::format("heart rate {:.4g} ± {:.2g} Hz ({:.0f} per minute), pulsatility {:.2f}", heart.hz,
                                      heart.error_hz, 60 * heart.hz, heart.pulsatility)
                        : "no heart rate: " + heart.problem);
    }

    // Adds the array values.NAME with one element per row of the table.
    template <class Of>
    static void add_values(OperationParts<Flow>& parts, std::string_view name, std::string_view unit,
                           std::string_view help, Of of, const std::vector<std::string>& words = {}) {
        parts.result(name, unit, help, [of, words](const Flow& flow) {
            std::vector<std::invoke_result_t<Of, const FlowRow&>> values;
            for (const FlowRow& row : flow.measured.rows) values.push_back(of(row));
            const auto count = std::ssize(values);
            return std::make_shared<const ResultArray>(ResultArray{{count}, std::move(values), words});
        });
    }
    static void describe_files(OperationParts<Flow>& parts);
    static void describe_results(OperationParts<Flow>& parts);
    static void describe_values(OperationParts<Flow>& parts);
};

void Flow::describe(OperationParts<Flow>& parts) {
    constexpr Effect effect = Effect::file;
    constexpr double far_s = 1e12;
    parts.info.summary = "Flow through a vessel in ul/s, over time, and the heart rate";
    parts.info.examples = {"velocity=velocity.nrrd through=120,64,80",
                           "velocity=velocity.nrrd through=120,64,80 output=flow.csv plot=flow.png"};
    parts.info.details =
        "Finds the lumen around a point, fits the course of the vessel, and sums the velocities along it over "
        "sections. "
        "Without an output, only the summary is made. See docs/flow.md.";
    parts.info.may_write_nothing = true;
    describe_files(parts);
    parts
        .argument(text("through", &Flow::through, effect,
                       "point of the vessel in the section: A-scan, B-scan and depth row [the fastest flow]")
                      .written_as("A,B,ROW"))
        .argument(text("towards", &Flow::towards, effect,
                       "another point on the vessel's axis, which sets its course instead of a fit")
                      .written_as("A,B,ROW"))
        .argument(choice("each", &Flow::each, {"volume", "b-scan"}, effect,
                         "a value for each volume, or for each B-scan along the vessel at its own time"))
        .argument(number("step_s", &Flow::step_s, 0, far_s, "s", effect, "time from one volume to the next")
                      .special(0, "from the files")
                      .written_as("SECONDS"))
        .argument(
            numbers("times_s", &Flow::times_s, -far_s, far_s, "s", effect, "start of each volume [from the files]")
                .written_as("SECONDS,..."))
        .argument(integer("arrow_count", &Flow::arrow_count, 1, 1000, "", effect, "number of arrows").written_as("N"))
        .section("cross_section", "Section", &Flow::cross_section);
    describe_results(parts);
    describe_values(parts);
}

void Flow::describe_files(OperationParts<Flow>& parts) {
    parts
        .input(
            {.name = "velocity",
             .help = "velocities from `reconstruct` with flow.method = doppler: volumes, series, folders or patterns",
             .takes_many = true,
             .takes_scans = false,
             .has_stored_as = false},
            &Flow::velocity)
        .input({.name = "structure",
                .help = "structure of the same reconstruction: undoes the blur of bright blood, and its "
                        "signal-to-noise ratio is checked",
                .is_required = false,
                .takes_many = true,
                .takes_scans = false},
               &Flow::structure)
        .output({.name = "output",
                 .kind = OutputKind::table,
                 .help = "flow, error and reason of each value",
                 .is_own = is_own_flow_table},
                &Flow::output)
        .output({.name = "plot", .kind = OutputKind::figure, .help = "flow over time and along the vessel"},
                &Flow::plot)
        .output({.name = "arrows",
                 .kind = OutputKind::file,
                 .help = "view with arrows along the vessel, for the window and `render`",
                 .placeholder = "FILE.toml",
                 .is_own = is_own_flow_view,
                 .endings = {".toml"}},
                &Flow::arrows)
        .output({.name = "streaks",
                 .kind = OutputKind::file,
                 .help = "view with streaks that move along the vessel with its blood and its pulse, for the window "
                         "and `render`",
                 .placeholder = "FILE.toml",
                 .is_own = is_own_flow_view,
                 .endings = {".toml"}},
                &Flow::streaks);
}

void Flow::describe_results(OperationParts<Flow>& parts) {
    const auto add = [&](std::string_view name, std::string_view unit, std::string_view help, auto of) {
        parts.result(name, unit, help, [of](const Flow& flow) { return of(flow.measured); });
    };
    using M = MeasuredFlow;
    add("volumes", "", "number of volumes", [](const M& one) { return one.volumes; });
    add("through", "", "point of the vessel: A-scan, B-scan, depth row", [](const M& one) {
        return std::vector<double>{one.place.a_scan, one.place.b_scan, one.place.row};
    });
    add("flow_ul_s", "ul/s", "mean over time", [](const M& one) { return one.flow_ul_s; });
    add("error_ul_s", "ul/s", "uncertainty from noise and angle", [](const M& one) { return one.error_ul_s; });
    add("en_face_ul_s", "ul/s", "flow through planes of constant depth", [](const M& one) { return one.en_face_ul_s; });
    add("angle_deg", "deg", "angle of the vessel to the beam", [](const M& one) { return 90 - one.course.tilt_deg; });
    add("angle_fit_error_deg", "deg", "standard error of the fitted angle",
        [](const M& one) { return one.course.tilt_error_deg; });
    add("angle_error", "", "relative error of the flow from the angle", [](const M& one) { return one.angle_error; });
    add("direction", "", "unit vector of the mean flow: A-scans, B-scans, depth", [](const M& one) {
        const auto& [depth, a_scans, b_scans] = one.course.direction;
        return std::vector<double>{a_scans, b_scans, depth};
    });
    add("planes", "", "number of planes in the fit of the course", [](const M& one) { return one.course.planes; });
    add("snr_db", "dB", "level of the lumen above the noise; needs structure", [](const M& one) { return one.snr_db; });
    add("heart_rate_hz", "Hz", "heart rate", [](const M& one) { return one.heart.hz; });
    add("heart_rate_error_hz", "Hz", "standard error of the heart rate",
        [](const M& one) { return one.heart.error_hz; });
    add("pulsatility", "", "(max - min) / mean of the flow over a beat",
        [](const M& one) { return one.heart.pulsatility; });
    add("no_heart_rate", "", "why the heart rate is unknown", [](const M& one) { return one.heart.problem; });
}

void Flow::describe_values(OperationParts<Flow>& parts) {
    using R = FlowRow;
    std::vector<std::string> reasons;
    for (int code = 0; code <= static_cast<int>(FlowReason::too_few); ++code)
        reasons.emplace_back(name_of(static_cast<FlowReason>(code)));
    add_values(parts, "values.volume", "", "number of the volume", [](const R& row) { return row.volume; });
    add_values(parts, "values.b_scan", "", "B-scan of the value, -1: mean of several",
               [](const R& row) { return row.value.plane; });
    add_values(parts, "values.time_s", "s", "time since the start of the first volume",
               [](const R& row) { return row.time_s; });
    add_values(parts, "values.flow_ul_s", "ul/s", "flow", [](const R& row) { return row.value.flow_ul_s; });
    add_values(parts, "values.error_ul_s", "ul/s", "uncertainty from noise alone",
               [](const R& row) { return row.value.error_ul_s; });
    add_values(parts, "values.mean_mm_s", "mm/s", "mean velocity along the vessel",
               [](const R& row) { return row.value.mean_mm_s; });
    add_values(parts, "values.area_mm2", "mm2", "area of the lumen", [](const R& row) { return row.value.area_mm2; });
    add_values(parts, "values.wrapped", "", "share of the lumen beyond the largest velocity",
               [](const R& row) { return row.value.wrapped; });
    add_values(
        parts, "values.reason", "", "why the value is missing",
        [](const R& row) { return static_cast<std::uint8_t>(row.value.reason); }, reasons);
}

}  // namespace

ECHOLUX_OPERATION(flow, Flow)

}  // namespace echolux
