// Kernels of passes.h: the voxels of missing blocks.
#include "compute/cuda/passes.h"

#include <cstring>

#include "compute/cuda/launch.h"
#include "compute/cuda/memory.h"
#include "compute/missing_voxels.h"

namespace echolux::cuda {
namespace {

// A block of threads for each line.
template <class Code>
__global__ void store_line(DeviceTarget target, Code code, std::int64_t depth, std::int64_t peaks) {
    const TargetRow row = target.row(blockIdx.x);
    for (std::int64_t z = threadIdx.x; z < depth; z += blockDim.x)
        row.store(z * static_cast<std::int64_t>(sizeof(Code)), code);
    if (row.peaks == nullptr) return;
    for (std::int64_t p = threadIdx.x; p < peaks; p += blockDim.x) reinterpret_cast<Code*>(row.peaks)[p] = code;
}

template <class Code>
void store_as(cudaStream_t stream, const DeviceTarget& target, std::int64_t depth, std::int64_t lines,
              const VoxelCode& bytes) {
    Code code;
    std::memcpy(&code, bytes.data(), sizeof code);
    const std::int64_t peaks = target.depths_of_a_peak > 0 ? peaks_of(depth, target.depths_of_a_peak) : 0;
    store_line<<<static_cast<unsigned>(lines), threads_for_depths(depth), 0, stream>>>(target, code, depth, peaks);
    checked_launch("store voxels of missing blocks");
}

void store(cudaStream_t stream, const DeviceTarget& target, const VolumeGrid& grid, std::int64_t lines,
           const VoxelCode& code) {
    switch (bytes_of(grid.type)) {
        case 1: return store_as<unsigned char>(stream, target, grid.depth, lines, code);
        case 2: return store_as<unsigned short>(stream, target, grid.depth, lines, code);
        case 4: return store_as<unsigned int>(stream, target, grid.depth, lines, code);
        default: return store_as<uint2>(stream, target, grid.depth, lines, code);
    }
}

}  // namespace

void store_missing_lines(cudaStream_t stream, const BlockTargets& targets, const Recipe& recipe, const VolumeGrid& grid,
                         const std::optional<VolumeGrid>& flow_grid, const MissingLines& lines) {
    store(stream, targets.structure, grid, lines.b_scans * lines.outputs_per_b_scan,
          missing_structure_code(recipe, grid.type, lines.are_textures));
    if (!targets.flow) return;
    store(stream, *targets.flow, *flow_grid, lines.b_scans * flow_grid->a_scans,
          missing_flow_code(flow_grid->type, lines.are_textures));
}

}  // namespace echolux::cuda
