// Job of `echolux demo`: simulates a 4-D scan, reconstructs and renders it, and compares the results with the ground
// truth.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/progress.h"
#include "render/gpu_device.h"

namespace echolux {

struct DemoJob {
    std::filesystem::path folder;
    GpuDevice device;
    bool overwrites = false;  // replaces any existing file
};

// A line of the closing table.
struct DemoLine {
    std::string what;
    std::string result;
};

// Throws Error. Files that are complete by then remain.
std::vector<DemoLine> run(const DemoJob& job, Progress& progress);

}  // namespace echolux
