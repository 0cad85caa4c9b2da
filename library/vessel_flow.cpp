// Flow through a section of a vessel over time.
#include <cmath>
#include <limits>

#include "app/jobs/measured_flow.h"
#include "engine/analysis/intensity.h"
#include "engine/flow/time_series.h"
#include "library/tissue.h"

using namespace echolux;
using namespace echolux::library;

struct echolux_vessel_flow : Handle<Kind::vessel_flow> {
    explicit echolux_vessel_flow(MeasuredFlow found) : measured(std::move(found)) {}
    const MeasuredFlow measured;
};

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

// Converts [3] A-scan, B-scan, row; NULL means not given.
std::optional<VoxelPlace> place_argument(const double* place, const char* name) {
    if (place == nullptr) return std::nullopt;
    const std::span<const double> numbers = numbers_argument(place, 3, name);
    return VoxelPlace{numbers[0], numbers[1], numbers[2]};
}

FlowSpec spec_of(const echolux_flow_spec& given, const echolux_tissue* tissue) {
    FlowSpec spec;
    spec.through = place_argument(given.through, "through");
    spec.towards = place_argument(given.towards, "towards");
    if (spec.towards && !spec.through)
        throw BadArgument("needs a point that it leads from", "towards", "give `through` as well");
    spec.each = given.each_b_scan != 0 ? FlowEach::b_scan : FlowEach::volume;
    spec.recipe = recipes_of(tissue).cross_section;
    return spec;
}

// Start times of the volumes; empty if they do not increase.
std::vector<double> times_of(const std::vector<const echolux_volume*>& volumes) {
    std::vector<double> times;
    for (const echolux_volume* volume : volumes) {
        if (!times.empty() && volume->time_s <= times.back()) return {};
        times.push_back(volume->time_s);
    }
    return times.size() > 1 ? times : std::vector<double>();
}

// An explicit `step_s` takes precedence over the times of the volumes.
VelocityVolumes series_of(const std::vector<const echolux_volume*>& volumes, double step_s) {
    if (!std::isfinite(step_s) || step_s < 0) throw BadArgument("is not a time", "step_s", "0: unknown");
    VelocityVolumes series;
    series.grid = volumes.front()->volume->grid;
    series.count = std::ssize(volumes);
    for (const echolux_volume* volume : volumes) {
        require_velocities(volume->volume->grid);
        require_alike(series.grid, volume->volume->grid, "velocities");
    }
    series.read = [volumes](std::int64_t i) {
        return axial_velocities(*volumes.at(static_cast<std::size_t>(i))->volume);
    };
    series.step_s = step_s;
    if (step_s > 0) return series;
    series.times_s = times_of(volumes);
    if (!series.times_s.empty())
        // The mean interval, in addition to the individual times.
        series.step_s = (series.times_s.back() - series.times_s.front()) / static_cast<double>(series.count - 1);
    return series;
}

// Structure is read as linear intensity only when it is needed.
void add_structures(VelocityVolumes& series, const std::vector<const echolux_volume*>& volumes) {
    for (const echolux_volume* volume : volumes)
        require_structure_of(series, volume->volume->grid, std::ssize(volumes), "structures");
    series.structure = volumes.front()->volume->grid;
    series.power = [volumes](std::int64_t i) {
        return linear_intensity(*volumes.at(static_cast<std::size_t>(i))->volume);
    };
}

// Writes one value per row of the result. NULL arrays are skipped.
template <class T, class Of>
void give_values(T* to, const std::vector<FlowRow>& rows, const Of& of) {
    if (to == nullptr) return;
    for (const FlowRow& row : rows) *to++ = static_cast<T>(of(row));
}

}  // namespace

echolux_status echolux_flow(const echolux_volume* const* velocities, const echolux_volume* const* structures,
                            size_t count, const echolux_flow_spec* spec, const echolux_tissue* tissue,
                            echolux_progress progress, void* user, echolux_vessel_flow** flow, echolux_error* error) {
    return guarded(error, [&] {
        required(flow, "flow") = nullptr;
        const echolux_flow_spec given = taken_or_default(spec, "spec");
        const FlowSpec wanted = spec_of(given, tissue);
        VelocityVolumes series = series_of(volumes_argument(velocities, count, "velocities"), given.step_s);
        if (structures != nullptr) add_structures(series, volumes_argument(structures, count, "structures"));
        CallerProgress told(progress, user);
        *flow = new echolux_vessel_flow(measured_flow(series, wanted, told));
    });
}

echolux_status echolux_vessel_flow_free(echolux_vessel_flow* flow) {
    return free_handle(flow);
}

echolux_status echolux_vessel_flow_describe(const echolux_vessel_flow* flow, echolux_flow_facts* facts,
                                            echolux_error* error) {
    return guarded(error, [&] {
        const MeasuredFlow& found = live_handle(flow, "flow").measured;
        const auto [depth, along, across] = found.course.direction;
        const bool beats = found.heart.is_found();
        echolux_flow_facts out{};
        out.values = std::ssize(found.rows);
        out.flow_ul_s = found.flow_ul_s;
        out.error_ul_s = found.error_ul_s;
        out.en_face_ul_s = found.en_face_ul_s;
        std::ranges::copy(std::array{found.place.a_scan, found.place.b_scan, found.place.row}, out.place);
        std::ranges::copy(std::array{along, across, depth}, out.direction);
        out.angle_deg = 90 - found.course.tilt_deg;
        out.angle_error = found.angle_error;
        out.snr_db = found.snr_db;
        out.heart_hz = beats ? found.heart.hz : none;
        out.heart_error_hz = beats ? found.heart.error_hz : none;
        out.pulsatility = beats ? found.heart.pulsatility : none;
        give(facts, out, "facts");
    });
}

echolux_status echolux_vessel_flow_read(const echolux_vessel_flow* flow, const echolux_flow_values* values,
                                        echolux_error* error) {
    return guarded(error, [&] {
        const std::vector<FlowRow>& rows = live_handle(flow, "flow").measured.rows;
        const echolux_flow_values to = taken(values, "values");
        require_count(to.count, rows.size());
        give_values(to.volume, rows, [](const FlowRow& row) { return row.volume; });
        give_values(to.b_scan, rows, [](const FlowRow& row) { return row.value.plane; });
        give_values(to.time_s, rows, [](const FlowRow& row) { return row.time_s; });
        give_values(to.flow_ul_s, rows, [](const FlowRow& row) { return row.value.flow_ul_s; });
        give_values(to.error_ul_s, rows, [](const FlowRow& row) { return row.value.error_ul_s; });
        give_values(to.mean_mm_s, rows, [](const FlowRow& row) { return row.value.mean_mm_s; });
        give_values(to.area_mm2, rows, [](const FlowRow& row) { return row.value.area_mm2; });
        give_values(to.wrapped, rows, [](const FlowRow& row) { return row.value.wrapped; });
        give_values(to.reasons, rows, [](const FlowRow& row) { return row.value.reason; });
    });
}

const char* echolux_flow_reason(int32_t reason) {
    if (reason < 0 || reason > static_cast<int32_t>(FlowReason::too_few)) return nullptr;
    return name_of(static_cast<FlowReason>(reason));
}

echolux_status echolux_vessel_flow_table(const echolux_vessel_flow* flow, char* buffer, size_t size, size_t* needed,
                                         echolux_error* error) {
    return guarded(error, [&] { give_text(table_of(live_handle(flow, "flow").measured), buffer, size, needed); });
}

echolux_status echolux_vessel_flow_heart_problem(const echolux_vessel_flow* flow, char* buffer, size_t size,
                                                 size_t* needed, echolux_error* error) {
    return guarded(error, [&] { give_text(live_handle(flow, "flow").measured.heart.problem, buffer, size, needed); });
}

echolux_status echolux_vessel_flow_warnings(const echolux_vessel_flow* flow, char* buffer, size_t size, size_t* needed,
                                            echolux_error* error) {
    return guarded(error,
                   [&] { give_text(lines_of(live_handle(flow, "flow").measured.warnings), buffer, size, needed); });
}
