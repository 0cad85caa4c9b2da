// Benchmark of processing after reconstruction: speckle filters, segmentation, registration, live steps.
#pragma once

#include "bench/report.h"
#include "bench/run.h"
#include "engine/progress.h"

namespace echolux {

// On the CPU: filters of 128 x 64 x 16 voxels, surfaces in 256 x 128 x 64. On a GPU: 512 x 512 x 512 and 512 x 512 x
// 256 voxels in its memory, and once with copies from and to the host. Throws Error{device, cancelled}. A figure that
// cannot be measured is reported with the reason.
BenchReport run_processing(const BenchJob& job, Progress& progress);

}  // namespace echolux
