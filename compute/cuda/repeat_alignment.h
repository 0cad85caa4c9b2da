// Lays the repeats of B-scans over one another on the GPU, before they are compared (docs/angiography.md): what
// compute/cpu/repeat_alignment does, from the same functors, for some slow positions at once. Nothing is decided on the
// host: how many repeats of a position can be compared stays in the GPU's memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/flow/flow_tables.h"
#include "compute/repeat_report.h"

namespace echolux::cuda {

struct RepeatWork;

// Repeats that were laid over one another: [slow][lines as they were recorded][depth], those that fit first.
struct AlignedBins {
    DeviceBins bins;
    const int* compared = nullptr;  // [slow]: how many can be compared; 1: none
};

class RepeatAlignment {
  public:
    // For at most so many slow positions of `position_lines` lines. Throws Error{out_of_memory}.
    RepeatAlignment(const FlowTables& tables, std::int64_t max_positions, std::int64_t position_lines,
                    cudaStream_t stream);

    // Valid until the next call's work begins. `reports`: [slow][repeats] in the GPU's memory, or null.
    AlignedBins enqueue(const DeviceBins& bins, std::int64_t positions, RepeatReport* reports);

  private:
    RepeatWork work_on(const DeviceBins& bins, std::int64_t positions) const;

    const FlowTables& tables_;
    std::int64_t max_positions_, position_lines_;
    cudaStream_t stream_;
    DeviceBuffer memory_;
};

}  // namespace echolux::cuda
