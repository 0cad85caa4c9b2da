// What Echolux wants to reach on an H200 with 2048-sample spectra, and how a report stands to it.
#pragma once

#include <vector>

#include "ui/app/bench_report.h"

namespace echolux {

// A target whose figure was not measured is missed.
std::vector<BenchTarget> judged(const BenchReport& report);

}  // namespace echolux
