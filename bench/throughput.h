// The main benchmark: the ceilings of this machine and the product's rates compared with them. Covers the reconstructor
// alone and the path to the screen.
#pragma once

#include "bench/report.h"
#include "bench/run.h"
#include "engine/progress.h"

namespace echolux {

// Lengths are even, from 128 to 65536. Throws Error{device, cancelled}. A figure that cannot be measured is reported
// with the reason.
BenchReport run(const BenchJob& job, Progress& progress);

}  // namespace echolux
