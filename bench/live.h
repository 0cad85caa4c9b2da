// Benchmark of a complete live system on this machine. Volumes arrive at a fixed rate in memory that the processor
// reads, are reconstructed with flow, and are drawn by a picture loop. Measured are shown and lost volumes and their
// latency. It also runs the scan protocols of M. Sylwestrzak et al., JBO 17(10), 2012, table 1, next to the published
// figures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/report.h"
#include "compute/backend.h"
#include "engine/progress.h"

namespace echolux {

struct LiveBenchJob {
    Backend backend = Backend::automatic;
    std::string device;                      // part of the Vulkan device's name; "": the reconstructing GPU
    double seconds = 60;                     // per live run
    bool quick = false;                      // small volumes, short runs: tests function, not speed
    std::optional<BackendChoice> gpus = {};  // if set, measures 1, 2, 4 ... of these GPUs together instead
    std::string only = {};                   // only runs whose keys start with this, such as "live.gpus.u16/2"; "": all
};

// Throws Error{device, out_of_memory, cancelled}.
BenchReport run(const LiveBenchJob& job, Progress& progress);

}  // namespace echolux
