// Aligns the repeats of B-scans on the GPU before comparison (docs/angiography.md). Equivalent to
// compute/cpu/repeat_alignment.h, with the same functors, for several slow-axis positions at once. The host makes no
// decisions: the number of comparable repeats per position stays in GPU memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/flow/flow_tables.h"
#include "compute/repeat_report.h"

namespace echolux::cuda {

struct RepeatWork;

// Aligned repeats: [slow][lines as recorded][depth], matching repeats first.
struct AlignedBins {
    DeviceBins bins;
    const int* compared = nullptr;  // [slow], number of comparable repeats; 1: none
};

// Alignment of one worker, on its stream.
class RepeatAlignment {
  public:
    // For up to `max_positions` slow-axis positions of `position_lines` lines. Throws Error{out_of_memory}.
    RepeatAlignment(const FlowTables& tables, std::int64_t max_positions, std::int64_t position_lines,
                    cudaStream_t stream);

    // Enqueues the alignment. The result is valid until the work of the next call starts. `reports`: [slow][repeats] in
    // GPU memory, or null.
    AlignedBins enqueue(const DeviceBins& bins, std::int64_t positions, RepeatReport* reports);

  private:
    RepeatWork work_on(const DeviceBins& bins, std::int64_t positions) const;

    const FlowTables& tables_;
    std::int64_t max_positions_, position_lines_;
    cudaStream_t stream_;
    DeviceBuffer memory_;
};

}  // namespace echolux::cuda
