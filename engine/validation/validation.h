// The job behind `echolux validate`: every reconstruction against what formulas and publications say of it, and, where
// there are recordings of mirrors, against the light that was recorded.
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
    std::vector<std::filesystem::path> mirrors;  // scans, one of a mirror each
    std::vector<std::string> settings;           // of these: "recipe.window=hann"
};

// Throws Error{bad_file, bad_setting, device, out_of_memory, cancelled}. A check that fails is in the report.
ValidationReport run(const ValidationJob& job, Progress& progress);

}  // namespace echolux
