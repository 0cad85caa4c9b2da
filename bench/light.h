// Benchmark of path tracing: cost of a path per pixel by the device's own clock, preparation after a change of the
// transfer curve or the volume, and the time until pictures are clean.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/report.h"
#include "engine/progress.h"

namespace echolux {

struct LightBenchJob {
    std::string device;                          // part of the Vulkan device's name; "": the best
    bool quick = false;                          // tiny volume, few repetitions: tests function, not speed
    std::vector<std::filesystem::path> volumes;  // measure their noise too, in the default view
};

// Runs on the volumes of the rendering benchmark. Throws Error{device, cancelled}. A volume that does not fit is
// reported with the reason.
BenchReport run(const LightBenchJob& job, Progress& progress);

}  // namespace echolux
