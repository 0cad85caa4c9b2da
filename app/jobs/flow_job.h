// The job behind `echolux flow`: velocities, one volume or a series, become the flow through a section of a vessel over
// time, with the heart's rate.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/jobs/measured_flow.h"

namespace echolux {

struct FlowJob {
    std::vector<std::filesystem::path> inputs;  // velocities: volumes, series, folders or patterns, all time points
    std::filesystem::path structure;            // of the same reconstruction, as many time points; empty: none
    FlowSpec spec;                              // but for its recipe, which settings say
    double step_s = 0;                          // between volumes; 0: as the files say
    std::filesystem::path table;                // CSV; empty: none
    std::filesystem::path plot;                 // *.pdf, *.svg, *.png; empty: none
    std::filesystem::path arrows;               // *.toml: a view with arrows along the vessel; empty: none
    std::filesystem::path streaks;              // *.toml: a view with streaks along the vessel, pulsing; empty: none
    std::vector<std::string> settings;          // "cross_section.margin_um=0"
    bool overwrites = false;                    // replaces what is there, whoever made it
};

// Throws Error, also where nothing can be said of the flow, with the reason. Nothing is left under a final name unless
// it is complete.
MeasuredFlow run(const FlowJob& job, Progress& progress);

bool is_own_flow_table(const std::filesystem::path& path);

}  // namespace echolux
