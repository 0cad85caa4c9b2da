// Flow through a vessel section over time, and the heart rate, from one or more velocity volumes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/flow/cross_section.h"
#include "engine/flow/time_series.h"
#include "engine/progress.h"

namespace echolux {

enum class FlowEach { volume, b_scan };

// Vessel and timing of a measurement.
struct FlowSpec {
    std::optional<VoxelPosition> through, towards;  // points in the vessel; std::nullopt: fastest point, fitted course
    FlowEach each = FlowEach::volume;               // b_scan: one value per B-scan along the vessel at its own time
    std::int64_t arrow_count = 6;
    CrossSectionRecipe recipe;
};

// Volumes of one size in order of time, read on demand.
struct VelocityVolumes {
    VolumeGrid grid;  // the same for all
    std::int64_t count = 0;
    std::function<std::vector<float>(std::int64_t)> read;     // like axial_velocities()
    double step_s = 0;                                        // between volumes; 0 if unknown
    std::vector<double> times_s;                              // start of each volume; empty: derived from step_s
    std::optional<VolumeGrid> structure;                      // of the same reconstruction
    std::function<std::vector<float>(std::int64_t)> power{};  // structure, like linear_intensity()
};

// Throw Error{bad_setting} that names `where` if volumes differ in size or scale, or structure differs from the
// velocities in size or number.
void require_alike(const VolumeGrid& first, const VolumeGrid& other, const std::string& where);
void require_structure_of(const VelocityVolumes& volumes, const VolumeGrid& structure, std::int64_t count,
                          const std::string& where);

// One value over time.
struct FlowRow {
    std::int64_t volume = 0;
    double time_s = 0;  // since the start of the first volume; NaN: unknown
    FlowValue value;
};

struct MeasuredFlow {
    std::int64_t volumes = 0;
    VoxelPosition place;
    VesselCourse course;
    double angle_error_deg = 0;  // of the fit, plus the recipe's contribution
    double angle_error = 0;      // relative error common to all values
    std::vector<FlowRow> rows;
    std::vector<FlowValue> along;  // mean over all volumes, for each plane
    double flow_ul_s = 0;          // mean over time
    double error_ul_s = 0;         // uncertainty from noise and angle; NaN: unknown
    double en_face_ul_s = 0;       // through planes of constant depth; NaN: no plane contains the whole lumen
    double snr_db = 0;             // of the lumen; NaN: without structure
    HeartRate heart;
    std::vector<double> arrows;                        // see VesselFlow::arrows()
    std::vector<std::array<double, 3>> course_points;  // see VesselFlow::course_points()
    std::vector<std::string> warnings;
};

// Throws Error with the reason if the flow cannot be determined.
MeasuredFlow measured_flow(const VelocityVolumes& volumes, const FlowSpec& spec, Progress& progress);

}  // namespace echolux
