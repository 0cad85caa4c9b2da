// From raw lines to voxels in separate passes on a worker's stream: any method, any recipe. Work buffers stay bounded:
// lines go through in pieces, and where whole B-scans of depth bins are needed, some positions at a time.
#pragma once

#include <memory>

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/target.h"
#include "compute/cuda/voxels.h"
#include "compute/plan_tables.h"

namespace echolux::cuda {

class SeparatePasses {
  public:
    // The stage lives longer. Throws Error{out_of_memory}.
    SeparatePasses(const ReconstructionPlan& plan, const BlockShape& shape, const VoxelStage& voxels,
                   std::int64_t depth, std::unique_ptr<LineMethod> method, cudaStream_t stream);

    // `positions` whole B-scan positions of a block.
    void enqueue(const std::byte* raw, std::int64_t positions, const DeviceBackground& background,
                 const DeviceTarget& target);

  private:
    void some_positions(const std::byte* raw, std::int64_t positions, const DeviceBackground& background,
                        const DeviceTarget& target);
    void keep(const DeviceBins& bins, std::int64_t first_line, std::int64_t lines);
    void store(const DeviceBins& bins, std::int64_t first_output, std::int64_t outputs, const DeviceTarget& target);

    Recipe recipe_;
    BlockShape shape_;
    const VoxelStage& voxels_;
    std::int64_t depth_;
    std::unique_ptr<LineMethod> method_;
    cudaStream_t stream_;
    std::int64_t line_bytes_;
    std::int64_t lines_of_a_position_;
    std::int64_t positions_at_once_;
    DeviceBuffer bins_;    // complex [lines][depth], where whole B-scans are needed
    DeviceBuffer values_;  // float [output lines][depth], where codes span each B-scan's own range
};

}  // namespace echolux::cuda
