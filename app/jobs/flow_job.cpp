#include "app/jobs/flow_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>

#include "app/figure/figure_page.h"
#include "app/jobs/convert_job.h"
#include "app/open/open_volume.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "engine/analysis/intensity.h"
#include "engine/flow/time_series.h"
#include "engine/io/atomic_file.h"
#include "engine/io/output_rule.h"
#include "engine/scan/settings.h"

namespace echolux {

// ---- Measurement

namespace {

// First line of the table; identifies the format.
constexpr std::string_view flow_heading = "# echolux cross-section";

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

void require_sense(const VesselFlow& vessel) {
    switch (vessel.reason()) {
        case FlowReason::ok: return;
        case FlowReason::no_signal:
            throw Error(ErrorCode::bad_setting, "the velocities around the point are hardly more than noise", "through",
                        "average more repeats, or larger windows (flow.window_lines, flow.window_depth)");
        case FlowReason::angle:
            throw Error(
                ErrorCode::bad_setting,
                fmt::format("the vessel runs at {:.1f} ± {:.1f} degrees to the beam: too near to 90 degrees for "
                            "its flow to be told from axial velocities",
                            90 - vessel.course().tilt_deg, vessel.angle_error_deg()),
                "cross_section.min_tilt_deg", "choose a place where it is steeper, or tilt the sample");
        case FlowReason::wrapped:
            throw Error(ErrorCode::bad_setting,
                        "velocities turn over so often that they cannot be put in order across the lumen", "through",
                        "measure with a shorter time between repeats");
        case FlowReason::out_of_range:
            throw Error(ErrorCode::bad_setting, "the lumen reaches the edge of the volume", "through",
                        "choose a place where the whole section is within, or a higher cross_section.significance "
                        "where tissue moves as well");
        case FlowReason::too_few:
            throw Error(ErrorCode::bad_setting,
                        fmt::format("only {} fit the whole lumen, too few for the course of the vessel: its angle to "
                                    "the beam is unknown",
                                    plural(vessel.course().planes, "planes")),
                        "through", "give another point of the vessel's axis as `towards`, or a longer volume");
    }
}

// Level of the lumen above the darkest twentieth of the depth rows, or above 0 dB if the volume is in dB above its
// noise floor.
double snr_of(const VolumeGrid& grid, const std::vector<float>& power, const VesselFlow& vessel) {
    const double lumen = std::max(vessel.mean_within(power), 1e-30);
    if (grid.unit == "dB above noise floor") return 10 * std::log10(lumen);
    std::vector<double> rows(index(grid.depth));
    for (std::size_t k = 0; k < power.size(); ++k) {
        if (std::isfinite(power[k])) rows[k % rows.size()] += static_cast<double>(power[k]);
    }
    std::ranges::sort(rows);
    const std::size_t dark = std::max<std::size_t>(1, rows.size() / 20);
    const auto lines = static_cast<double>(grid.a_scans * grid.b_scans);
    return 10 * std::log10(lumen / std::max(rows[dark / 2] / lines, 1e-30));
}

// Mean over volumes, separately for each plane.
class AlongMean {
  public:
    void add(const std::vector<FlowValue>& values) {
        if (mean_.empty()) mean_ = values;
        sums_.resize(values.size());
        counts_.resize(values.size());
        for (std::size_t k = 0; k < values.size(); ++k) {
            if (values[k].reason != FlowReason::ok) continue;
            sums_[k] += values[k].flow_ul_s;
            counts_[k] += 1;
        }
    }
    std::vector<FlowValue> mean() const {
        std::vector<FlowValue> result = mean_;
        for (std::size_t k = 0; k < result.size(); ++k)
            result[k].flow_ul_s = counts_[k] > 0 ? sums_[k] / counts_[k] : unknown;
        return result;
    }

  private:
    std::vector<FlowValue> mean_;
    std::vector<double> sums_, counts_;
};

bool are_even(const std::vector<double>& times_s) {
    constexpr double alike = 0.01;  // of the first interval
    for (std::size_t i = 2; i < times_s.size(); ++i) {
        const double first = times_s[1] - times_s[0], here = times_s[i] - times_s[i - 1];
        if (std::abs(here - first) > alike * first) return false;
    }
    return true;
}

// Duration of a volume: the interval, if volumes follow each other without a pause. Uneven intervals contain unknown
// pauses.
double volume_s(const VelocityVolumes& series) {
    return are_even(series.times_s) ? series.step_s : unknown;
}

double began_s(const VelocityVolumes& series, std::int64_t number) {
    if (!series.times_s.empty()) return series.times_s.at(index(number)) - series.times_s.front();
    return series.step_s > 0 || series.count == 1 ? static_cast<double>(number) * series.step_s : unknown;
}

void add_rows(FlowEach each, const VelocityVolumes& series, std::int64_t volume, const VesselFlow& vessel,
              const std::vector<FlowValue>& along, MeasuredFlow& measured) {
    const double began = began_s(series, volume), known = volume_s(series), took = std::isfinite(known) ? known : 0;
    const auto add = [&](const FlowValue& value) {
        measured.rows.push_back({volume, began + value.when * took, value});
    };
    if (each == FlowEach::volume) return add(vessel.section(along));
    for (const FlowValue& value : along) add(value);
}

void sum_up(MeasuredFlow& measured) {
    double sum = 0, count = 0, noise = 0, known = 0;
    FlowReason why = FlowReason::no_signal;
    for (const FlowRow& row : measured.rows) {
        if (row.value.reason != FlowReason::ok) {
            why = row.value.reason;
            continue;
        }
        sum += row.value.flow_ul_s;
        if (std::isfinite(row.value.error_ul_s)) {
            noise += row.value.error_ul_s * row.value.error_ul_s;
            known += 1;
        }
        count += 1;
    }
    if (count == 0) {
        throw Error(ErrorCode::bad_setting, fmt::format("no section has a flow: {}", name_of(why)), "through",
                    why == FlowReason::out_of_range ? "the lumen reaches the edge of the volume: choose another place"
                    : why == FlowReason::wrapped    ? "measure with a shorter time between repeats"
                                                    : "average more repeats, or larger windows");
    }
    measured.flow_ul_s = sum / count;
    measured.error_ul_s =
        known == 0 ? unknown
                   : std::hypot(std::sqrt(noise / (known * count)), measured.flow_ul_s * measured.angle_error);
}

void find_heart(MeasuredFlow& measured, const VelocityVolumes& series, const CrossSectionRecipe& recipe) {
    if (series.count > 1 && series.step_s == 0 && !std::isfinite(measured.rows.back().time_s)) {
        measured.heart.problem = "the files do not say when the volumes were measured";
        return;
    }
    if (series.count == 1 && series.step_s == 0) {
        measured.heart.problem = "a single volume has no heart rate";
        return;
    }
    std::vector<double> times, flow;
    for (const FlowRow& row : measured.rows) {
        times.push_back(row.time_s);
        flow.push_back(row.value.flow_ul_s);
    }
    measured.heart = heart_rate_of(times, flow, recipe.heart_min_hz, recipe.heart_max_hz);
}

void warn(const VolumeGrid& grid, const VelocityVolumes& series, MeasuredFlow& measured) {
    constexpr double uncertain = 0.05, sparse = 0.1;
    if (measured.angle_error > uncertain) {
        measured.warnings.push_back(fmt::format(
            "cross_section.angle_error_deg: the angle to the beam, {:.1f} ± {:.2f} degrees, leaves the flow "
            "uncertain by {:.0f} %",
            90 - measured.course.tilt_deg, measured.angle_error_deg, 100 * measured.angle_error));
    }
    if (!std::isfinite(measured.error_ul_s))
        measured.warnings.push_back("through: fewer than three planes show the lumen, so the noise is unknown");
    if (grid.v_max == 0)
        measured.warnings.push_back("volume: the greatest velocity is unknown, so none beyond it is put in order");
    const auto missing =
        std::ranges::count_if(measured.rows, [](const FlowRow& row) { return row.value.reason != FlowReason::ok; });
    if (static_cast<double>(missing) > sparse * static_cast<double>(measured.rows.size()))
        measured.warnings.push_back(fmt::format("through: {} of {} are missing; the table says why", missing,
                                                plural(std::ssize(measured.rows), "values")));
    if (measured.heart.is_found() && measured.heart.hz * series.step_s > 0.125 &&
        std::ranges::all_of(measured.rows, [](const FlowRow& row) { return row.value.plane < 0; })) {
        measured.warnings.push_back(
            "each: a volume takes more than an eighth of a heart beat; values of each B-scan "
            "follow it better");
    }
}

std::string cell(double value) {
    return std::isfinite(value) ? fmt::format("{:.6g}", value) : std::string();
}

}  // namespace

void require_alike(const VolumeGrid& first, const VolumeGrid& other, const std::string& where) {
    if (other.depth == first.depth && other.a_scans == first.a_scans && other.b_scans == first.b_scans &&
        other.type == first.type && other.v_max == first.v_max && other.scale == first.scale &&
        other.offset == first.offset && other.spacing_um == first.spacing_um) {
        return;
    }
    throw Error(ErrorCode::bad_setting, "differs from the first volume in size, spacing, scale or greatest velocity",
                where, "the volumes of a series are made by one recipe");
}

void require_structure_of(const VelocityVolumes& volumes, const VolumeGrid& structure, std::int64_t count,
                          const std::string& where) {
    const VolumeGrid& ours = volumes.grid;
    if (ours.depth != structure.depth || ours.a_scans != structure.a_scans || ours.b_scans != structure.b_scans) {
        throw Error(ErrorCode::bad_setting, "has another size than the velocities", where,
                    "give the structure of the same reconstruction");
    }
    if (count != volumes.count) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("has {}, and the velocities have {}", plural(count, "time points"), volumes.count),
                    where, "give the structure of the same volumes");
    }
}

MeasuredFlow measured_flow(const VelocityVolumes& volumes, const FlowSpec& spec, Progress& progress) {
    const CrossSectionRecipe& recipe = spec.recipe;
    check(recipe, "cross_section");
    if (recipe.heart_min_hz >= recipe.heart_max_hz) {
        throw Error(ErrorCode::bad_setting, "the range of heart rates is empty", "cross_section.heart_max_hz",
                    "give more than cross_section.heart_min_hz");
    }
    const auto power_of_volume = [&](std::int64_t number) {
        return volumes.structure ? volumes.power(number) : std::vector<float>();
    };
    MeasuredFlow measured;
    measured.volumes = volumes.count;
    progress.begin("flow", 2 * volumes.count, "readings");
    VelocitySum sum(volumes.grid);
    for (std::int64_t v = 0; v < volumes.count; ++v) {
        sum.add(volumes.read(v));
        progress.advance(1);
    }
    const MeanVelocity mean = sum.mean();
    const VesselFlow vessel(volumes.grid, mean, recipe, spec.through, spec.towards);
    require_sense(vessel);
    measured.place = vessel.place();
    measured.course = vessel.course();
    measured.angle_error_deg = vessel.angle_error_deg();
    measured.angle_error = vessel.angle_error();
    measured.snr_db = volumes.structure ? snr_of(*volumes.structure, power_of_volume(0), vessel) : unknown;
    if (measured.snr_db < recipe.min_snr_db) {
        throw Error(
            ErrorCode::bad_setting,
            fmt::format("the lumen is only {:.1f} dB above the noise, too little for its flow", measured.snr_db),
            "cross_section.min_snr_db", "velocities of noise are too slow on average: average more repeats");
    }
    if (spec.each == FlowEach::b_scan && measured.course.across != 2) {
        throw Error(ErrorCode::bad_setting, "the vessel does not run across the B-scans, so none of them cuts it",
                    "each", "take one value per volume");
    }
    if (spec.each == FlowEach::b_scan && !std::isfinite(volume_s(volumes))) {
        throw Error(ErrorCode::bad_setting,
                    "the volumes came at uneven intervals, so when each of their B-scans was measured is unknown",
                    "each", "take one value per volume; or name their `step`, where they follow without a pause");
    }
    AlongMean along_mean;
    for (std::int64_t v = 0; v < volumes.count; ++v) {
        const std::vector<FlowValue> along = vessel.along(volumes.read(v), power_of_volume(v));
        along_mean.add(along);
        add_rows(spec.each, volumes, v, vessel, along, measured);
        progress.advance(1);
    }
    progress.end();
    measured.along = along_mean.mean();
    measured.en_face_ul_s = vessel.en_face_ul_s(mean);
    measured.arrows = vessel.arrows(spec.arrow_count);
    measured.course_points = vessel.course_points();
    sum_up(measured);
    find_heart(measured, volumes, recipe);
    warn(volumes.grid, volumes, measured);
    return measured;
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

// ---- Figure of the flow: over time with the heartbeat, and along the vessel.

namespace {

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

}  // namespace

// ---- Views: arrows or streaks along the vessel, in the format of `render` and sessions.

namespace {

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

}  // namespace

// ---- Job

namespace {

void require_growing(const std::vector<double>& times_s, const std::string& path) {
    const auto here = std::ranges::adjacent_find(times_s, std::greater_equal{});
    if (here == times_s.end()) return;
    throw Error(ErrorCode::bad_file,
                fmt::format("the times of its volumes do not grow: after {:g} s comes {:g} s", *here, *std::next(here)),
                path, "give the time between volumes as `step_s`");
}

// Concatenates the time points of all inputs.
class VelocitySeries {
  public:
    explicit VelocitySeries(const std::vector<std::filesystem::path>& paths) : path_(paths.front().string()) {
        for (const std::filesystem::path& path : paths) {
            if (is_scan_name(path)) {
                throw Error(ErrorCode::bad_setting, "is a scan: flow is measured in volumes of velocities",
                            path.string(), "`reconstruct` makes them, with flow.method = doppler");
            }
            inputs_.push_back(std::make_unique<ConvertInput>(path));
            const SeriesHeader& header = inputs_.back()->header();
            with_file_context(path.filename().string(), "volume", [&] { require_velocities(header.grid); });
            require_alike(grid(), header.grid, path.string());
            for (std::int64_t t = 0; t < header.time_points; ++t) points_.push_back({inputs_.back().get(), t});
        }
    }

    // The result reads from this object.
    VelocityVolumes volumes(double step_s) const {
        const SeriesHeader& first = inputs_.front()->header();
        VelocityVolumes all;
        all.grid = grid();
        all.count = std::ssize(points_);
        all.read = [this](std::int64_t number) { return read(number); };
        all.step_s = step_s > 0 ? step_s : first.step_s;
        if (inputs_.size() == 1 && step_s == 0) {
            require_growing(first.times_s, path_);
            all.times_s = first.times_s;
        }
        return all;
    }

  private:
    const VolumeGrid& grid() const { return inputs_.front()->header().grid; }

    std::vector<float> read(std::int64_t number) const {
        const auto& [input, time_point] = points_.at(index(number));
        return axial_velocities({grid(), input->read(time_point, {0, grid().b_scans}), {}});
    }

    struct Point {
        ConvertInput* input;
        std::int64_t time_point;
    };
    std::string path_;  // of the first input
    std::vector<std::unique_ptr<ConvertInput>> inputs_;
    std::vector<Point> points_;
};

// Adds the structure of the same volumes as linear intensities.
void add_structure(VelocityVolumes& volumes, const std::filesystem::path& path) {
    if (path.empty()) return;
    const auto input = std::make_shared<ConvertInput>(path);
    const VolumeGrid grid = input->header().grid;
    require_structure_of(volumes, grid, input->header().time_points, path.string());
    volumes.structure = grid;
    volumes.power = [input, grid](std::int64_t number) {
        return linear_intensity({grid, input->read(number, {0, grid.b_scans}), {}});
    };
}

void write_lines(const std::filesystem::path& path, const std::string& text) {
    OutputFile file(path);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
}

bool is_own_flow_table(const std::filesystem::path& path) {
    return begins_with(path, flow_heading);
}

}  // namespace

MeasuredFlow run(const FlowJob& job, Progress& progress) {
    FileNames inputs = job.structure.empty() ? FileNames{} : files_read(job.structure);
    for (const std::filesystem::path& input : job.inputs)
        std::ranges::copy(files_read(input), std::back_inserter(inputs));
    check_outputs({{job.table, is_own_flow_table, {".csv"}},
                   {job.plot, is_own_figure},
                   {job.arrows, is_own_flow_view, {".toml"}},
                   {job.streaks, is_own_flow_view, {".toml"}}},
                  inputs, job.overwrites);
    check_plot_name(job.plot);
    FlowSpec spec = job.spec;
    Settings settings;
    settings.bind("cross_section", spec.recipe);
    for (const std::string& assignment : job.settings) settings.set_assignment(assignment);
    const VelocitySeries series(job.inputs);
    VelocityVolumes volumes = series.volumes(job.step_s);
    add_structure(volumes, job.structure);
    const MeasuredFlow measured = measured_flow(volumes, spec, progress);
    if (!job.table.empty()) write_lines(job.table, table_of(measured));
    if (!job.arrows.empty()) write_lines(job.arrows, view_with_arrows(measured.arrows));
    if (!job.streaks.empty()) write_lines(job.streaks, view_with_streaks(measured));
    if (!job.plot.empty()) plot_flow(job.plot, measured);
    return measured;
}

}  // namespace echolux
