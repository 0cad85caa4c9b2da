// Flow through a section of a vessel over time, with the heart's rate, from volumes of velocities wherever they come
// from: what `echolux flow` and the library share.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/flow/cross_section.h"
#include "engine/flow/heart_rate.h"
#include "engine/progress.h"

namespace echolux {

enum class FlowEach { volume, b_scan };

// What is asked.
struct FlowSpec {
    std::optional<VoxelPlace> through, towards;  // points of the vessel; nothing: the fastest; a course that is fitted
    FlowEach each = FlowEach::volume;            // b_scan: each B-scan along the vessel at its own time
    std::int64_t arrow_count = 6;
    CrossSectionRecipe recipe;
};

// Volumes of one size in order, read when they are needed.
struct VelocityVolumes {
    VolumeGrid grid;  // of all of them
    std::int64_t count = 0;
    std::function<std::vector<float>(std::int64_t)> read;     // as axial_velocities()
    double step_s = 0;                                        // from one to the next; 0: unknown
    std::vector<double> times_s;                              // when each began; empty: by step_s
    std::optional<VolumeGrid> structure;                      // of the same reconstruction
    std::function<std::vector<float>(std::int64_t)> power{};  // of it, as linear_intensity()
};

// Throw Error{bad_setting}, naming `where`: volumes of other sizes or scales than the first; structure of another size
// or number than the velocities.
void require_alike(const VolumeGrid& first, const VolumeGrid& other, const std::string& where);
void require_structure_of(const VelocityVolumes& volumes, const VolumeGrid& structure, std::int64_t count,
                          const std::string& where);

// One value over time.
struct FlowRow {
    std::int64_t volume = 0;
    double time_s = 0;  // since the first volume began; NaN: unknown
    FlowValue value;
};

struct MeasuredFlow {
    std::int64_t volumes = 0;
    VoxelPlace place;
    VesselCourse course;
    double angle_error_deg = 0;  // of the fit and of what the recipe adds
    double angle_error = 0;      // relative, of every value alike
    std::vector<FlowRow> rows;
    std::vector<FlowValue> along;  // mean over all volumes, plane by plane
    double flow_ul_s = 0;          // mean over time
    double error_ul_s = 0;         // of it: noise and angle; NaN: unknown
    double en_face_ul_s = 0;       // through planes of constant depth; NaN: none holds the whole lumen
    double snr_db = 0;             // of the lumen; NaN: no structure was given
    HeartRate heart;
    std::vector<double> arrows;                        // as VesselFlow::arrows()
    std::vector<std::array<double, 3>> course_points;  // likewise
    std::vector<std::string> warnings;
};

// Throws Error, also where nothing can be said of the flow, with the reason.
MeasuredFlow measured_flow(const VelocityVolumes& volumes, const FlowSpec& spec, Progress& progress);

// As a table; the first line says what it is.
inline constexpr std::string_view flow_heading = "# echolux cross-section";
std::string table_of(const MeasuredFlow& measured);

}  // namespace echolux
