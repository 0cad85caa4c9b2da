// From complex depth bins to voxels on the GPU: join repeats, power, noise floor, quantity, codes
// (docs/algorithms.md 3.13). The tables are shared by all workers.
#pragma once

#include <cstdint>

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/target.h"
#include "compute/plan_tables.h"

namespace echolux::cuda {

// Which lines become an output line: those of one position and, where repeats are joined, of all its repeats.
struct Joining {
    std::int64_t joined = 1;     // lines of an output line
    std::int64_t a_scans = 1;    // output lines of a group of frames
    std::int64_t a_repeats = 1;  // joined neighbours
    std::int64_t b_repeats = 1;  // joined frames
    std::int64_t frame_lines = 1;

#ifdef __CUDACC__
    // The r-th line of an output line.
    __device__ std::int64_t line(std::int64_t output, std::int64_t r) const {
        if (joined == 1) return output;
        const std::int64_t frame = output / a_scans * b_repeats + r / a_repeats;
        return frame * frame_lines + output % a_scans * a_repeats + r % a_repeats;
    }
#endif
};

class VoxelStage {
  public:
    VoxelStage(const VoxelTables& tables, const ReconstructionPlan& plan, const BlockShape& shape);

    // `lines` output lines; where repeats are joined, of whole B-scan positions from their first line on.
    void store(cudaStream_t stream, const DeviceBins& bins, std::int64_t lines, const DeviceTarget& target) const;

    // levels = frame: values [lines][depth] first, then the codes of `slices` slices, each over its own range.
    void values(cudaStream_t stream, const DeviceBins& bins, std::int64_t lines, float* values) const;
    void store_slices(cudaStream_t stream, const float* values, std::int64_t slices, const DeviceTarget& target) const;

  private:
    void enqueue(cudaStream_t stream, const DeviceBins& bins, std::int64_t lines, VoxelType type,
                 const DeviceTarget& target) const;

    VoxelTables tables_;
    Joining joining_;
    DeviceBuffer noise_floor_;
};

}  // namespace echolux::cuda
