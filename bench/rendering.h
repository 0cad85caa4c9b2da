// The bench of rendering: what pictures of volumes cost the graphics device, by its own clock, and
// how near that is to what its texture units can do.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/report.h"
#include "engine/progress.h"

namespace echolux {

struct RenderingBenchJob {
    std::string device;                          // part of the Vulkan device's name; "": the best
    bool quick = false;                          // tiny volumes, few repetitions: that it runs, not how fast
    std::vector<std::filesystem::path> volumes;  // for which samples are counted too, as they are shown by default
};

// Of made-up volumes like those of OCT, u8: layered tissue in speckle, half of it empty. Throws Error{device,
// cancelled}. A volume that does not fit is in the report, with the reason.
BenchReport run(const RenderingBenchJob& job, Progress& progress);

}  // namespace echolux
