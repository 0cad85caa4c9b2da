// Benchmark of recipe.precision: noise that half precision adds to a line, and the share of codes it changes.
#pragma once

#include "bench/report.h"
#include "bench/run.h"
#include "engine/progress.h"

namespace echolux {

// Compares fast with exact on the same GPU for layered tissue and for mirrors 40 ... 70 dB above the noise, with 2048
// samples. Throws Error{cancelled}, and Error{device} without a GPU.
BenchReport run_precision(const BenchJob& job, Progress& progress);

}  // namespace echolux
