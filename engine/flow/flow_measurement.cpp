#include "engine/flow/flow_measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"

namespace echolux {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

void require_sense(const VesselFlow& vessel) {
    switch (vessel.reason()) {
        case FlowReason::ok: return;
        case FlowReason::no_signal:
            throw Error(ErrorCode::bad_setting, "the velocities around the point hardly exceed the noise", "through",
                        "average more repeats, or larger windows (flow.window_lines, flow.window_depth)");
        case FlowReason::angle:
            throw Error(ErrorCode::bad_setting,
                        fmt::format("the vessel runs at {:.1f} ± {:.1f} degrees to the beam: too close to 90 degrees "
                                    "to derive its flow from axial velocities",
                                    90 - vessel.course().tilt_deg, vessel.angle_error_deg()),
                        "cross_section.min_tilt_deg", "choose a point where it is steeper, or tilt the sample");
        case FlowReason::wrapped:
            throw Error(ErrorCode::bad_setting,
                        "velocities wrap so often that they cannot be unwrapped across the lumen", "through",
                        "measure with a shorter time between repeats");
        case FlowReason::out_of_range:
            throw Error(ErrorCode::bad_setting, "the lumen reaches the edge of the volume", "through",
                        "choose a point where the whole section is inside the volume, or raise "
                        "cross_section.significance if the tissue moves too");
        case FlowReason::too_few:
            throw Error(
                ErrorCode::bad_setting,
                fmt::format(
                    "only {} contain the whole lumen, too few to fit the vessel axis: its angle to the beam is unknown",
                    plural(vessel.course().planes, "planes")),
                "through", "choose another point on the vessel axis as `towards`, or a longer volume");
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
                    why == FlowReason::out_of_range ? "the lumen reaches the edge of the volume: choose another point"
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
        measured.warnings.push_back("volume: the Nyquist velocity is unknown, so velocities are not unwrapped");
    const auto missing =
        std::ranges::count_if(measured.rows, [](const FlowRow& row) { return row.value.reason != FlowReason::ok; });
    if (static_cast<double>(missing) > sparse * static_cast<double>(measured.rows.size()))
        measured.warnings.push_back(fmt::format("through: {} of {} are missing; the table says why", missing,
                                                plural(std::ssize(measured.rows), "values")));
    if (measured.heart.is_found() && measured.heart.hz * series.step_s > 0.125 &&
        std::ranges::all_of(measured.rows, [](const FlowRow& row) { return row.value.plane < 0; })) {
        measured.warnings.push_back(
            "each: a volume takes more than an eighth of a heart beat; values per B-scan resolve the beat better");
    }
}

}  // namespace

void require_alike(const VolumeGrid& first, const VolumeGrid& other, const std::string& where) {
    if (other.depth == first.depth && other.a_scans == first.a_scans && other.b_scans == first.b_scans &&
        other.type == first.type && other.v_max == first.v_max && other.scale == first.scale &&
        other.offset == first.offset && other.spacing_um == first.spacing_um) {
        return;
    }
    throw Error(ErrorCode::bad_setting, "differs from the first volume in size, spacing, scale or Nyquist velocity",
                where, "reconstruct all volumes of a series with the same recipe");
}

void require_structure_of(const VelocityVolumes& volumes, const VolumeGrid& structure, std::int64_t count,
                          const std::string& where) {
    const VolumeGrid& ours = volumes.grid;
    if (ours.depth != structure.depth || ours.a_scans != structure.a_scans || ours.b_scans != structure.b_scans) {
        throw Error(ErrorCode::bad_setting, "differs in size from the velocities", where,
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
            fmt::format("the lumen is only {:.1f} dB above the noise, too little to measure its flow", measured.snr_db),
            "cross_section.min_snr_db", "noise lowers the mean velocity: average more repeats");
    }
    if (spec.each == FlowEach::b_scan && measured.course.across != 2) {
        throw Error(ErrorCode::bad_setting, "the vessel does not cross the B-scans, so there is no value per B-scan",
                    "each", "measure one value per volume");
    }
    if (spec.each == FlowEach::b_scan && !std::isfinite(volume_s(volumes))) {
        throw Error(ErrorCode::bad_setting,
                    "the volumes were acquired at uneven intervals, so the times of their B-scans are unknown", "each",
                    "measure one value per volume, or set `step_s` if the volumes follow without a pause");
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

}  // namespace echolux
