// The benches of methods and of several GPUs: every method beside the plain chain, and how some of them scale with
// the number of GPUs.
#pragma once

#include "bench/report.h"
#include "bench/run.h"
#include "engine/progress.h"

namespace echolux {

// 2048 samples and the AO-OCT chain with 832; into textures where there is a GPU and a renderer for it. Throws
// Error{bad_setting, device, cancelled}; a figure that cannot be measured is in the report, with the reason.
BenchReport run_methods(const BenchJob& job, Progress& progress);

// On 1, 2, 4 ... `gpus` GPUs, spectra and voxels in the memory of each; 0: all there are. Throws Error{device} where
// fewer can be used.
BenchReport run_scaling(const BenchJob& job, int gpus, Progress& progress);

}  // namespace echolux
