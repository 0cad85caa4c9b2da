// Benchmark of published work: the figures of five papers, and the same work done here.
#pragma once

#include <vector>

#include "bench/published_figures.h"
#include "bench/report.h"
#include "bench/run.h"
#include "engine/progress.h"

namespace echolux {

// Pairs published figures with ours from `report`. If `on_gpu` is set, plain keys are GPU figures, and those of the CPU
// start with "cpu.".
std::vector<BenchComparison> beside_the_papers(const BenchReport& report, bool on_gpu);
std::vector<BenchComparison> beside_the_papers(const BenchReport& report, bool on_gpu,
                                               const std::vector<PublishedFigure>& figures);

// Measures the required figures in the shapes of the papers. Throws Error{bad_setting, device, cancelled}. A figure
// that cannot be measured is reported with the reason.
BenchReport run_papers(const BenchJob& job, Progress& progress);

}  // namespace echolux
