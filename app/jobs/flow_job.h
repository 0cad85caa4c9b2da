// The job behind `echolux flow`: velocities, one volume or a series, become the flow through a section of a vessel over
// time, with the heart's rate.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/flow/cross_section.h"
#include "engine/flow/heart_rate.h"
#include "engine/progress.h"

namespace echolux {

enum class FlowEach { volume, b_scan };

struct FlowJob {
    std::vector<std::filesystem::path> inputs;   // velocities: volumes, series, folders or patterns, all time points
    std::filesystem::path structure;             // of the same reconstruction, as many time points; empty: none
    std::optional<VoxelPlace> through, towards;  // points of the vessel; nothing: the fastest; a course that is fitted
    FlowEach each = FlowEach::volume;            // b_scan: each B-scan along the vessel at its own time
    double step_s = 0;                           // between volumes; 0: as the files say
    std::filesystem::path table;                 // CSV; empty: none
    std::filesystem::path plot;                  // *.pdf, *.svg, *.png; empty: none
    std::filesystem::path arrows;                // *.toml: a view with arrows along the vessel; empty: none
    std::int64_t arrow_count = 6;
    std::filesystem::path streaks;      // *.toml: a view with streaks along the vessel, pulsing; empty: none
    std::vector<std::string> settings;  // "cross_section.margin_um=0"
    bool overwrites = false;            // replaces what is there, whoever made it
};

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
    double angle_error = 0;  // relative, of every value alike
    std::vector<FlowRow> rows;
    std::vector<FlowValue> along;  // mean over all volumes, plane by plane
    double flow_ul_s = 0;          // mean over time
    double error_ul_s = 0;         // of it: noise and angle; NaN: unknown
    double en_face_ul_s = 0;       // through planes of constant depth; NaN: none holds the whole lumen
    double snr_db = 0;             // of the lumen; NaN: no structure was given
    HeartRate heart;
    std::vector<std::string> warnings;
};

// Throws Error, also where nothing can be said of the flow, with the reason. Nothing is left under a final name unless
// it is complete.
MeasuredFlow run(const FlowJob& job, Progress& progress);

// As a table; the first line says what it is.
std::string table_of(const MeasuredFlow& measured);
bool is_own_flow_table(const std::filesystem::path& path);

}  // namespace echolux
