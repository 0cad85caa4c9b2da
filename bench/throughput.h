// The plain bench: what this machine can do, and how near the product comes to it, in one run: its ceilings, rates of
// the reconstructor alone and of the way to the screen.
#pragma once

#include "bench/report.h"
#include "bench/run.h"
#include "engine/progress.h"

namespace echolux {

// Lengths are even, from 128 to 65536. Throws Error{device, cancelled}. A single figure that cannot be measured is in
// the report, with the reason.
BenchReport run(const BenchJob& job, Progress& progress);

}  // namespace echolux
