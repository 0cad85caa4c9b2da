// The bench of movies: what a turntable costs beside drawing its pictures alone, and encoding them
// alone: reading back and encoding go on while the next pictures are drawn, so that it should be the slower of both.
#pragma once

#include <string>

#include "bench/report.h"
#include "engine/progress.h"

namespace echolux {

struct MovieBenchJob {
    std::string device;  // part of the Vulkan device's name; "": the best
    bool quick = false;  // few small pictures: that it runs, not how fast
};

// On a GPU 300 pictures of 1920 x 1080 in H.264, on software Vulkan fewer and smaller ones. All pictures are kept in
// memory in between. Throws Error{device, cancelled, out_of_memory, output}.
BenchReport run(const MovieBenchJob& job, Progress& progress);

}  // namespace echolux
