// The fast path: one kernel from raw samples to voxels (fused_kernel.cuh), for recipes whose A-scans do not depend on
// each other, or to depth bins, or to both; for transforms that fit into shared memory. Everything else takes separate
// passes.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/target.h"
#include "compute/plan/params.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cuda {

struct FusedWork;

class FusedKernel {
  public:
    // Whether it can turn lines into bins: transforms of 512 to 8192 points that the current device has shared memory
    // for.
    static bool fits(const ReconstructionSpec& spec, const PlainTables& tables);

    // Of a spec that fits, whether into voxels too: nothing that needs neighbours or whole B-scans; and whether into
    // voxels and bins at once.
    static bool makes_voxels(const ReconstructionSpec& spec, const PlainTables& tables);
    static bool makes_both(const Recipe& recipe);

    FusedKernel(const ReconstructionSpec& spec, const PlainTables& tables, const VoxelTables& voxels);

    // Whole acquired B-scans: `lines` lines from `raw` on (device memory, or mapped host memory), each of which becomes
    // one output line.
    void voxels(cudaStream_t stream, const std::byte* raw, std::int64_t lines, const DeviceBackground& background,
                const DeviceTarget& target) const;

    // Likewise bins, on the device: [lines][bins_of_a_line()].
    void bins(cudaStream_t stream, const std::byte* raw, std::int64_t lines, const DeviceBackground& background,
              float2* bins) const;
    void both(cudaStream_t stream, const std::byte* raw, std::int64_t lines, const DeviceBackground& background,
              const DeviceTarget& target, float2* bins) const;

    std::int64_t bins_of_a_line() const { return lengths_.transform / 2; }
    DeviceBins kept(float2* bins) const;

  private:
    FusedWork lines_work(const std::byte* raw, std::int64_t lines, const DeviceBackground& background) const;
    FusedWork voxels_work(const std::byte* raw, std::int64_t lines, const DeviceBackground& background,
                          const DeviceTarget& target) const;

    ReconstructionSpec spec_;
    Lengths lengths_;
    VoxelTables voxels_;
    DeviceBuffer base_;
    DeviceBuffer taps_;
    DeviceBuffer weight_;
    DeviceBuffer twiddles_;
    DeviceBuffer noise_floor_;
};

}  // namespace echolux::cuda
