// From raw lines to voxels in one kernel; where flow is wanted this kernel keeps the depth bins besides, some slow
// positions at a time, few enough to stay in the GPU's cache until the flow kernel has read them. And the same kernel
// as a method that makes bins only, for whatever needs them before voxels can be made.
#pragma once

#include "compute/cuda/flow.h"
#include "compute/cuda/fused.h"
#include "compute/cuda/passes.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cuda {

class FusedPasses : public Passes {
  public:
    // The kernel lives longer, and so does the stage, if there is one. Throws Error{out_of_memory}.
    FusedPasses(const ReconstructionSpec& spec, const BlockShape& shape, const FusedKernel& kernel,
                const FlowStage* flow, cudaStream_t stream);

    void enqueue(const RawPositions& positions, const BlockTargets& targets) override;

  private:
    template <class Bin>
    void with_flow(const RawPositions& positions, const KPoints& points, const BlockTargets& targets);

    std::int64_t lines_of_a_position_;
    std::int64_t line_bytes_;
    std::int64_t frames_of_a_position_;
    std::int64_t outputs_of_a_position_;
    std::int64_t positions_at_once_;  // with flow
    const FusedKernel& kernel_;
    KPointRows points_;
    cudaStream_t stream_;
    DeviceBuffer bins_;
    bool keeps_half_bins_ = false;
    std::optional<FlowPass> flow_;
};

class FusedLines : public LineMethod {
  public:
    // Lines of whole acquired B-scans. The kernel lives longer. Throws Error{out_of_memory}.
    FusedLines(const FusedKernel& kernel, std::int64_t frame_lines, std::int64_t max_lines, cudaStream_t stream);

    std::int64_t lines_at_once() const override { return lines_at_once_; }
    DeviceBins enqueue(const RawLines& lines) override;

  private:
    const FusedKernel& kernel_;
    KPointRows points_;
    std::int64_t frame_lines_;
    std::int64_t lines_at_once_;
    cudaStream_t stream_;
    DeviceBuffer bins_;
};

}  // namespace echolux::cuda
