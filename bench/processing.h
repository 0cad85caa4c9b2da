// The bench of what is done to volumes after reconstruction: speckle filters, surfaces
// between layers.
#pragma once

#include "bench/report.h"
#include "bench/run.h"
#include "engine/progress.h"

namespace echolux {

// On the CPU: filters of 128 x 64 x 16 voxels, surfaces in 256 x 128 x 64. On a GPU: 512 x 512 x 512 and 512 x 512 x
// 256, in its memory, and once with the copies of a volume of the host. Throws Error{device, cancelled}; a figure that
// cannot be measured is in the report, with the reason.
BenchReport run_processing(const BenchJob& job, Progress& progress);

}  // namespace echolux
