// Job of `echolux simulate`: simulates a scene and writes an ordinary scan.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/progress.h"

namespace echolux {

struct SimulateJob {
    std::string scene;
    std::vector<std::string> settings;  // such as "simulation.seed=2"
    std::filesystem::path scan;         // TOML file
    std::filesystem::path velocity;     // volume file of the true flow; "": none
    bool overwrites = false;            // replaces any existing file
};

// Throws Error. An output file only appears once it is complete.
void run(const SimulateJob& job, Progress& progress);

}  // namespace echolux
