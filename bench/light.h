// The bench of traced light: what a path a pixel costs the graphics device, by its own clock, what has to be made
// before the first path where the curve or the volume has changed, and how soon pictures are clean.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/report.h"
#include "engine/progress.h"

namespace echolux {

struct LightBenchJob {
    std::string device;                          // part of the Vulkan device's name; "": the best
    bool quick = false;                          // a tiny volume, few repetitions: that it runs, not how fast
    std::vector<std::filesystem::path> volumes;  // whose noise is measured too, in the default view that fits
};

// Of the volumes that rendering is measured with. Throws Error{device, cancelled}. A volume that does not fit is in the
// report, with the reason.
BenchReport run(const LightBenchJob& job, Progress& progress);

}  // namespace echolux
