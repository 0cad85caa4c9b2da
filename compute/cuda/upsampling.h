// Up-sampling by two or four (docs/algorithms.md 2.5) without leaving the chip: one kernel from raw lines to weighted
// points of the k grid. Of the up-sampled line every second or fourth sample is a recorded one; the others are the line
// shifted by parts of a sample, each by one transform back of the padded length, which is shorter than the up-sampled.
#pragma once

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/plan/plan_tables.h"
#include "compute/steps/line_format.h"

namespace echolux::cuda {

class KLinearTables;

class UpsamplingKernel {
  public:
    // Whether a block of the current device can hold two padded and up-sampled lines: up to 8192 padded samples by two.
    static bool fits(const PlainTables& tables);

    // On the current device. Throws Error{device, out_of_memory}.
    explicit UpsamplingKernel(const PlainTables& tables);

    // weighted: [lines][transform], float2 where the weight is complex and float where it is real; zero beyond the
    // points of the k grid.
    void enqueue(cudaStream_t stream, const LineFormat& format, const RawLines& lines, const KLinearTables& tables,
                 std::byte* weighted) const;

  private:
    DeviceBuffer twiddles_;
    DeviceBuffer factors_;  // float4 [upsample - 1][padded / 2]
};

}  // namespace echolux::cuda
