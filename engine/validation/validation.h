// The job behind `echolux validate`: compares every reconstruction with formulas and publications and, with recordings
// of mirrors, with the recorded light.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compute/reconstructor.h"
#include "engine/progress.h"
#include "engine/validation/check.h"

namespace echolux {

struct ValidationJob {
    Backend backend = Backend::automatic;
    bool quick = false;                          // fewer depths, kernels and scenes
    std::vector<std::filesystem::path> mirrors;  // scans of one mirror each
    std::vector<std::string> settings;           // for the mirrors: "recipe.window=hann"
};

// Runs the checks. Failed checks are in the report. Throws Error{bad_file, bad_setting, device, out_of_memory,
// cancelled}.
ValidationReport run(const ValidationJob& job, Progress& progress);

}  // namespace echolux
