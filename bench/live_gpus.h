// A live system on several GPUs: volumes of 1000 x 1000 x 1000 voxels from raw spectra into the textures of one of
// them, lit pictures beside. What 1, 2, 4 ... reach, beside what their links carry.
#pragma once

#include "bench/live.h"

namespace echolux {

// job.gpus is set. Throws Error{device, out_of_memory, cancelled; bad_setting: job.only is no run}.
BenchReport run_live_gpus(const LiveBenchJob& job, Progress& progress);

}  // namespace echolux
