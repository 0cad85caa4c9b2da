// The benches of `echolux bench --methods` and `--gpus N`: every way from spectra to voxels beside the plain one, and
// what more GPUs make of some of them.
#pragma once

#include "bench/bench_job.h"
#include "bench/report.h"
#include "engine/progress.h"

namespace echolux {

// 2048 samples and the AO-OCT chain with 832; into textures where there is a GPU and a renderer for it. Throws
// Error{bad_setting, device, cancelled}; a figure that cannot be measured is in the report, with the reason.
BenchReport run_methods(const BenchJob& job, Progress& progress);

// On 1, 2, 4 ... `gpus` GPUs, spectra and voxels in the memory of each; 0: all there are. Throws Error{device} where
// fewer can be used.
BenchReport run_scaling(const BenchJob& job, int gpus, Progress& progress);

}  // namespace echolux
