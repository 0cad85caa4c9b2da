// Targets of Echolux on an H200 with 2048-sample spectra, and without a GPU, and the comparison of reports with them.
//
// Rates and times hold for an H200. Shares of a link, a transform or another figure also hold on other machines.
// docs/performance.md lists the figures that were measured last.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "bench/report.h"

namespace echolux {

// Spectrometer lengths that are not powers of two; the target is the same speed per sample.
inline constexpr std::array<std::int64_t, 5> other_lengths{832, 1000, 1536, 2000, 3000};

// Lengths of long-range swept sources.
inline constexpr std::array<std::int64_t, 3> long_lengths{16384, 32768, 65536};

// A target is missed if its figure was not measured.
std::vector<Check> judged(const BenchReport& report);

// Targets on a CPU.
std::vector<Check> judged_on_cpu(const BenchReport& report);

// Targets of the rendering benchmark at 1920 x 1080; `volumes`: recordings whose samples were counted.
std::vector<Check> judged_rendering(const BenchReport& report, const std::vector<std::filesystem::path>& volumes);

// Rendering targets with software Vulkan at 640 x 480.
std::vector<Check> judged_rendering_in_software(const BenchReport& report);

// Targets of the methods benchmark: 2048 samples, exact and with recipe.precision = fast; for the AO-OCT chain, the
// published set of volumes.
std::vector<Check> judged_methods(const BenchReport& report);

// Targets of the scaling benchmark, for up to `gpus` GPUs.
std::vector<Check> judged_scaling(const BenchReport& report, int gpus);

// Targets of the path tracing benchmark; `volumes`: recordings whose noise was measured.
std::vector<Check> judged_light(const BenchReport& report, const std::vector<std::filesystem::path>& volumes);

// Targets of the movie benchmark.
std::vector<Check> judged_movie(const BenchReport& report);

// Targets of the loops of tests/bench.
std::vector<Check> judged_loops(const BenchReport& report);

}  // namespace echolux
