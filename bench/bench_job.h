// The job behind `echolux bench`: what this machine can do, and how near the product comes to it, in one run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/report.h"
#include "compute/backend.h"
#include "engine/progress.h"

namespace echolux {

struct BenchJob {
    Backend backend = Backend::automatic;
    std::string gpu;                                      // part of the GPU's name; "": the first
    std::string device;                                   // part of the Vulkan device's name; "": the GPU's own
    std::vector<std::int64_t> lengths{1024, 2048, 4096};  // samples; 2048, or else the first, is studied in depth
    bool quick = false;                                   // small volumes, few repetitions: that it runs, not how fast
};

// Throws Error{bad_setting, device, cancelled}. A single figure that cannot be measured is in the report, with the
// reason.
BenchReport run(const BenchJob& job, Progress& progress);

}  // namespace echolux
