// The job behind `echolux demo`: a living 4-D scan is simulated, reconstructed and ray-cast; the results are measured
// against the simulator's truth.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/progress.h"
#include "render/device_choice.h"

namespace echolux {

struct DemoJob {
    std::filesystem::path folder;
    DeviceChoice device;
    bool overwrites = false;  // replaces what is there, whoever made it
};

// A line of the closing table.
struct DemoLine {
    std::string what;
    std::string result;
};

// Throws Error; what was finished before stays.
std::vector<DemoLine> run(const DemoJob& job, Progress& progress);

}  // namespace echolux
