// Benchmarks of methods and of several GPUs: each method compared with the plain chain, and the scaling of some methods
// with the number of GPUs.
#pragma once

#include "bench/report.h"
#include "bench/run.h"
#include "engine/progress.h"

namespace echolux {

// Runs 2048 samples, and the AO-OCT chain with 832. Voxels go to textures if there is a GPU and a renderer for it.
// Throws Error{bad_setting, device, cancelled}. A figure that cannot be measured is reported with the reason.
BenchReport run_methods(const BenchJob& job, Progress& progress);

// Runs on 1, 2, 4 ... `gpus` GPUs (0: all), with spectra and voxels in the memory of each. Throws Error{device} if
// fewer are usable.
BenchReport run_scaling(const BenchJob& job, int gpus, Progress& progress);

}  // namespace echolux
