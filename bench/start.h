// What every bench of reconstruction begins with: who reconstructs, how much of it, and a report that says so.
#pragma once

#include <string>

#include "bench/bench_job.h"
#include "bench/processor.h"
#include "bench/report.h"
#include "bench/scan.h"
#include "compute/ceilings.h"

namespace echolux {

// Volumes, but for the length of a spectrum, and how long each figure is measured.
struct BenchExtent {
    BenchSize size;
    CeilingEffort effort;
};

// A CPU is some hundred times slower: smaller volumes say the same.
BenchExtent extent_of(bool gpu, bool quick);

struct BenchStart {
    BenchProcessor processor;
    BenchExtent extent;
    BenchReport report;  // of the machine and the volumes
};

// Throws Error{device} before anything is measured where what was asked for is not there.
BenchStart start_of(const BenchJob& job);

// As the operating system calls it; "" where it does not say.
std::string processor_name();

}  // namespace echolux
