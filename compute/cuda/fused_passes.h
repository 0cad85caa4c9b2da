// Converts raw lines to voxels in a single kernel. With flow, this kernel also stores the depth bins, for few enough
// slow-axis positions at a time that they stay in the GPU's cache until the flow kernel has read them. FusedLines uses
// the same kernel as a method that only produces bins.
#pragma once

#include "compute/cuda/flow.h"
#include "compute/cuda/fused.h"
#include "compute/cuda/passes.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cuda {

// The path of a block through the fused kernel and, with flow, the flow kernels.
class FusedPasses : public Passes {
  public:
    // The kernel and the stage, which may be null, must outlive this object. Throws Error{out_of_memory}.
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

// The fused kernel as a method that produces bins.
class FusedLines : public LineMethod {
  public:
    // Processes lines of whole acquired B-scans. The kernel must outlive this object. Throws Error{out_of_memory}.
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
