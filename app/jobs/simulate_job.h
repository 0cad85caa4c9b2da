// The job behind `echolux simulate`: a scene to an ordinary scan.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/progress.h"

namespace echolux {

struct SimulateJob {
    std::string scene;
    std::vector<std::string> settings;  // "simulation.seed=2"
    std::filesystem::path scan;         // the TOML file
    std::filesystem::path velocity;     // a volume file for the true flow; "": none
    bool overwrites = false;            // replaces what is there, whoever made it
};

// Throws Error; nothing is left under a final name unless it is complete.
void run(const SimulateJob& job, Progress& progress);

}  // namespace echolux
