// The live bench: a whole live system on this machine. Volumes that arrive at a set rate in
// memory that the processor fetches from, reconstructed with flow, drawn by a picture loop; what appears, what is lost,
// how late it is. And the scan protocols of M. Sylwestrzak et al., JBO 17(10), 2012, table 1, beside what is published.
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
    std::string device;                      // part of the Vulkan device's name; "": the GPU's own
    double seconds = 60;                     // of each live run
    bool quick = false;                      // small volumes, short runs: that it runs, not how fast
    std::optional<BackendChoice> gpus = {};  // instead: what 1, 2, 4 ... of these reach together
    std::string only = {};                   // of these, the runs whose keys begin so: "live.gpus.u16/2"; "": all
};

// Throws Error{device, out_of_memory, cancelled}.
BenchReport run(const LiveBenchJob& job, Progress& progress);

}  // namespace echolux
