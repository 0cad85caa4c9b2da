// The bench of traced light: what a path a pixel costs the graphics device, by its own clock, and what has to be made
// before the first path where the curve or the volume has changed.
#pragma once

#include <string>

#include "bench/report.h"
#include "engine/progress.h"

namespace echolux {

struct LightBenchJob {
    std::string device;  // part of the Vulkan device's name; "": the best
    bool quick = false;  // a tiny volume, few repetitions: that it runs, not how fast
};

// Of the volumes that rendering is measured with. Throws Error{device, cancelled}. A volume that does not fit is in the
// report, with the reason.
BenchReport run(const LightBenchJob& job, Progress& progress);

}  // namespace echolux
