// The fast path: one kernel from raw samples to voxels (fused_kernel.cuh), for recipes whose A-scans do not depend on
// each other and whose transform fits into shared memory. Everything else takes separate passes.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/target.h"
#include "compute/plan_tables.h"
#include "compute/reconstructor.h"

namespace echolux::cuda {

class FusedKernel {
  public:
    // Transforms of 512 to 8192 points that the current device has shared memory for; nothing that needs neighbours in
    // depth or whole B-scans.
    static bool fits(const ReconstructionPlan& plan, const PlainTables& tables);

    FusedKernel(const ReconstructionPlan& plan, const PlainTables& tables, const VoxelTables& voxels);

    // Whole acquired B-scans: `lines` lines from `raw` on (device memory, or mapped host memory), each of which becomes
    // one output line.
    void enqueue(cudaStream_t stream, const std::byte* raw, std::int64_t lines, const DeviceBackground& background,
                 const DeviceTarget& target) const;

  private:
    ReconstructionPlan plan_;
    Lengths lengths_;
    VoxelTables voxels_;
    DeviceBuffer base_;
    DeviceBuffer taps_;
    DeviceBuffer weight_;
    DeviceBuffer twiddles_;
    DeviceBuffer noise_floor_;
};

}  // namespace echolux::cuda
