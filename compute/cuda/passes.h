// Enqueues the work of a block on a worker's stream from raw lines to structure and flow voxels: in a single kernel if
// possible, otherwise in separate passes.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "compute/cuda/flow.h"
#include "compute/cuda/fused.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/target.h"
#include "compute/cuda/voxels.h"
#include "compute/plan/params.h"
#include "compute/plan/tables.h"
#include "compute/repeat_report.h"
#include "compute/types.h"

namespace echolux::cuda {

// Where the results of a block are written.
struct BlockTargets {
    DeviceTarget structure;
    std::optional<DeviceTarget> flow;
    RepeatReport* reports = nullptr;  // [frames] in GPU memory; null: not needed

    // Returns the targets of work that starts the given numbers of output lines and acquired B-scans later.
    BlockTargets from(std::int64_t structure_lines, std::int64_t flow_lines, std::int64_t frames) const {
        BlockTargets later{structure.from(structure_lines), flow, reports};
        if (flow) later.flow = flow->from(flow_lines);
        if (reports != nullptr) later.reports += frames;
        return later;
    }
};

// Whole slow-axis positions of a volume.
struct RawPositions {
    RawLines lines;
    std::int64_t count = 0;
    std::int64_t first_frame = 0;  // acquired B-scan of line 0 in the volume
};

// Enqueues whole blocks or parts of them.
class Passes {
  public:
    virtual ~Passes() = default;
    virtual void enqueue(const RawPositions& positions, const BlockTargets& targets) = 0;
};

// ---- Converts raw lines to voxels in separate passes on a worker's stream, for any method and recipe. Work buffers
// are bounded: lines are processed in pieces and, if whole B-scans of depth bins are needed, a few positions at a time.

// The path of a block through a method, the voxel stage and, if requested, flow.
class SeparatePasses : public Passes {
  public:
    // The stages must outlive this object; `flow` may be null. Throws Error{out_of_memory}.
    SeparatePasses(const ReconstructionSpec& spec, const BlockShape& shape, const VoxelKernels& voxels,
                   const FlowKernels* flow, std::int64_t depth, std::unique_ptr<LineMethod> method,
                   cudaStream_t stream);

    void enqueue(const RawPositions& positions, const BlockTargets& targets) override;

  private:
    void some_positions(const RawPositions& positions, const BlockTargets& targets);
    void line_by_line(const RawPositions& positions, const DeviceTarget& target);
    DeviceBins all_bins(const RawPositions& positions);
    void store(const DeviceBins& bins, std::int64_t first_output, std::int64_t outputs, std::int64_t first_frame,
               const DeviceTarget& target);

    Recipe recipe_;
    BlockShape shape_;
    const VoxelKernels& voxels_;
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

// ---- Converts raw lines to voxels in a single kernel. With flow, this kernel also stores the depth bins, for few
// enough slow-axis positions at a time that they stay in the GPU's cache until the flow kernel has read them.
// FusedLines uses the same kernel as a method that only produces bins.

// The path of a block through the fused kernel and, with flow, the flow kernels.
class FusedPasses : public Passes {
  public:
    // The kernel and the stage, which may be null, must outlive this object. Throws Error{out_of_memory}.
    FusedPasses(const ReconstructionSpec& spec, const BlockShape& shape, const FusedKernel& kernel,
                const FlowKernels* flow, cudaStream_t stream);

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

// Lines without a value (compute/missing_voxels.h), where blocks of spectra are missing.
struct MissingLines {
    std::int64_t b_scans = 0;  // positions
    std::int64_t outputs_per_b_scan = 0;
    bool are_textures = false;
};

// Enqueues the lines of structure and flow, and peaks where the target has some.
void store_missing_lines(cudaStream_t stream, const BlockTargets& targets, const Recipe& recipe, const VolumeGrid& grid,
                         const std::optional<VolumeGrid>& flow_grid, const MissingLines& lines);

}  // namespace echolux::cuda
