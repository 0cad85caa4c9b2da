// What Echolux wants to reach on an H200 with 2048-sample spectra, and without a GPU, and how a report stands to it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "bench/report.h"

namespace echolux {

// Samples of spectrometers that are no powers of two, and wanted to be as fast, sample for sample.
inline constexpr std::array<std::int64_t, 5> other_lengths{832, 1000, 1536, 2000, 3000};

// Samples of swept sources of long range.
inline constexpr std::array<std::int64_t, 3> long_lengths{16384, 32768, 65536};

// A target whose figure was not measured is missed.
std::vector<BenchTarget> judged(const BenchReport& report);

// The same on a CPU.
std::vector<BenchTarget> judged_on_cpu(const BenchReport& report);

// The same of the bench of rendering, 1920 x 1080; `volumes`: recordings for which samples were counted.
std::vector<BenchTarget> judged_rendering(const BenchReport& report, const std::vector<std::filesystem::path>& volumes);

// The same on software Vulkan, 640 x 480.
std::vector<BenchTarget> judged_rendering_in_software(const BenchReport& report);

// The same of the bench of methods: 2048 samples, exact and as fast as recipe.precision makes them; of the AO-OCT chain
// the published set of volumes.
std::vector<BenchTarget> judged_methods(const BenchReport& report);

// The same of the bench of several GPUs, for up to `gpus`.
std::vector<BenchTarget> judged_scaling(const BenchReport& report, int gpus);

// The same of the bench of traced light; `volumes`: recordings whose noise was measured.
std::vector<BenchTarget> judged_light(const BenchReport& report, const std::vector<std::filesystem::path>& volumes);

// The same of the bench of movies.
std::vector<BenchTarget> judged_movie(const BenchReport& report);

}  // namespace echolux
