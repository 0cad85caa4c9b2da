// Live system on several GPUs: volumes of 1000 x 1000 x 1000 voxels from raw spectra to the textures of one GPU, with
// lit pictures. Measures 1, 2, 4 ... GPUs, and the bandwidth of their links.
#pragma once

#include "bench/live.h"

namespace echolux {

// job.gpus must be set. Throws Error{device, out_of_memory, cancelled; bad_setting if job.only matches no run}.
BenchReport run_live_gpus(const LiveBenchJob& job, Progress& progress);

}  // namespace echolux
