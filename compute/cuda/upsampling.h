// On-chip up-sampling by two or four (docs/algorithms.md 2.5): a single kernel from raw lines to weighted points of the
// k grid. Every second or fourth sample of the up-sampled line is a recorded one. The others are the line shifted by
// fractions of a sample, each computed by one inverse transform of the padded length, which is shorter than the
// up-sampled one.
#pragma once

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/plan/plan_tables.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {

class KLinearTables;

// Tables and launches, shared by all workers.
class UpsamplingKernel {
  public:
    // Returns whether a thread block of the current device can hold two padded and up-sampled lines: up to 8192 padded
    // samples for factor two.
    static bool fits(const PlainTables& tables);

    // Uploads to the current device. Throws Error{device, out_of_memory}.
    explicit UpsamplingKernel(const PlainTables& tables);

    // Enqueues to `weighted` [lines][transform], float2 for complex weights and float for real ones, zero beyond the
    // points of the k grid.
    void enqueue(cudaStream_t stream, const LineFormat& format, const RawLines& lines, const KLinearTables& tables,
                 std::byte* weighted) const;

  private:
    DeviceBuffer twiddles_;
    DeviceBuffer factors_;  // float4 [upsample - 1][padded / 2]
};

}  // namespace echolux::cuda
