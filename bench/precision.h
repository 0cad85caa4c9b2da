// The bench of recipe.precision: what half precision adds to a line, and how many codes it changes.
#pragma once

#include "bench/report.h"
#include "bench/run.h"
#include "engine/progress.h"

namespace echolux {

// Layered tissue, and mirrors 40 ... 70 dB above the noise, 2048 samples, fast beside exact on the same GPU. Throws
// Error{device, cancelled}, the former where there is no GPU.
BenchReport run_precision(const BenchJob& job, Progress& progress);

}  // namespace echolux
