// The bench of the papers: what five of them published, and the same work done here.
#pragma once

#include <vector>

#include "bench/published_figures.h"
#include "bench/report.h"
#include "bench/run.h"
#include "engine/progress.h"

namespace echolux {

// Each published figure beside ours, which `report` has under its key; a processor's own are under "cpu." where
// `on_gpu` says that the others are a GPU's.
std::vector<BenchComparison> beside_the_papers(const BenchReport& report, bool on_gpu);
std::vector<BenchComparison> beside_the_papers(const BenchReport& report, bool on_gpu,
                                               const std::vector<PublishedFigure>& figures);

// What is needed for that, in the papers' shapes. Throws Error{bad_setting, device, cancelled}; a figure that cannot be
// measured is in the report, with the reason.
BenchReport run_papers(const BenchJob& job, Progress& progress);

}  // namespace echolux
