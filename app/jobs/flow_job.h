// Job of `echolux flow`: computes the flow through a vessel section over time and the heart rate from one or more
// velocity volumes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/jobs/measured_flow.h"

namespace echolux {

struct FlowJob {
    std::vector<std::filesystem::path> inputs;  // velocities: volumes, series, folders or patterns; all time points
    std::filesystem::path structure;            // of the same reconstruction and length; empty: none
    FlowSpec spec;                              // its recipe is taken from the settings
    double step_s = 0;                          // between volumes; 0: from the files
    std::filesystem::path table;                // CSV; empty: none
    std::filesystem::path plot;                 // *.pdf, *.svg, *.png; empty: none
    std::filesystem::path arrows;               // *.toml: a view with arrows along the vessel; empty: none
    std::filesystem::path streaks;              // *.toml: a view with pulsing streaks along the vessel; empty: none
    std::vector<std::string> settings;          // such as "cross_section.margin_um=0"
    bool overwrites = false;                    // replaces any existing file
};

// Throws Error with the reason if the flow cannot be determined. An output file only appears once it is complete.
MeasuredFlow run(const FlowJob& job, Progress& progress);

bool is_own_flow_table(const std::filesystem::path& path);

}  // namespace echolux
