// Benchmark of movies: a turntable compared with only drawing and with only encoding its pictures. Reading back and
// encoding overlap with drawing, so the whole should take as long as the slower part.
#pragma once

#include <string>

#include "bench/report.h"
#include "engine/progress.h"

namespace echolux {

struct MovieBenchJob {
    std::string device;  // part of the Vulkan device's name; "": the best
    bool quick = false;  // few small pictures: tests function, not speed
};

// Renders 300 pictures of 1920 x 1080 in H.264 on a GPU, fewer and smaller ones with software Vulkan. All pictures are
// kept in memory between the steps. Throws Error{device, cancelled, out_of_memory, output}.
BenchReport run(const MovieBenchJob& job, Progress& progress);

}  // namespace echolux
