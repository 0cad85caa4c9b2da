// What Echolux wants to reach on an H200 with 2048-sample spectra, and how a report stands to it.
#pragma once

#include <filesystem>
#include <vector>

#include "ui/app/bench_report.h"

namespace echolux {

// A target whose figure was not measured is missed.
std::vector<BenchTarget> judged(const BenchReport& report);

// The same of the bench of rendering, 1920 x 1080; `volumes`: recordings for which samples were counted.
std::vector<BenchTarget> judged_rendering(const BenchReport& report, const std::vector<std::filesystem::path>& volumes);

// The same of the bench of movies.
std::vector<BenchTarget> judged_movie(const BenchReport& report);

}  // namespace echolux
