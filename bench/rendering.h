// Benchmark of rendering: cost of pictures by the device's own clock, compared with the limit of its texture units.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/report.h"
#include "engine/progress.h"

namespace echolux {

struct RenderingBenchJob {
    std::string device;                          // part of the Vulkan device's name; "": the best
    bool quick = false;                          // tiny volumes, few repetitions: tests function, not speed
    std::vector<std::filesystem::path> volumes;  // count samples for these too, in the default view
};

// Renders synthetic u8 volumes similar to OCT: layered tissue in speckle, half of it empty. Throws Error{device,
// cancelled}. A volume that does not fit is reported with the reason.
BenchReport run(const RenderingBenchJob& job, Progress& progress);

}  // namespace echolux
