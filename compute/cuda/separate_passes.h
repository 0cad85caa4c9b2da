// Converts raw lines to voxels in separate passes on a worker's stream, for any method and recipe. Work buffers are
// bounded: lines are processed in pieces and, if whole B-scans of depth bins are needed, a few positions at a time.
#pragma once

#include <memory>

#include "compute/cuda/flow.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/passes.h"
#include "compute/cuda/voxels.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cuda {

// The path of a block through a method, the voxel stage and, if requested, flow.
class SeparatePasses : public Passes {
  public:
    // The stages must outlive this object; `flow` may be null. Throws Error{out_of_memory}.
    SeparatePasses(const ReconstructionSpec& spec, const BlockShape& shape, const VoxelStage& voxels,
                   const FlowStage* flow, std::int64_t depth, std::unique_ptr<LineMethod> method, cudaStream_t stream);

    void enqueue(const RawPositions& positions, const BlockTargets& targets) override;

  private:
    void some_positions(const RawPositions& positions, const BlockTargets& targets);
    void line_by_line(const RawPositions& positions, const DeviceTarget& target);
    DeviceBins all_bins(const RawPositions& positions);
    void store(const DeviceBins& bins, std::int64_t first_output, std::int64_t outputs, std::int64_t first_frame,
               const DeviceTarget& target);

    Recipe recipe_;
    BlockShape shape_;
    const VoxelStage& voxels_;
    std::int64_t depth_;
    std::unique_ptr<LineMethod> method_;
    cudaStream_t stream_;
    std::int64_t line_bytes_;
    std::int64_t frames_of_a_position_;
    std::int64_t lines_of_a_position_;
    std::int64_t positions_at_once_;
    bool needs_whole_;     // whole B-scans of bins are needed
    DeviceBuffer bins_;    // complex [lines][depth] of whole B-scans, if the method processes fewer lines at once
    DeviceBuffer values_;  // float [output lines][depth], if codes span the range of each B-scan
    std::optional<FlowPass> flow_;
};

}  // namespace echolux::cuda
