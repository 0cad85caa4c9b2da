// Variants of the fused kernel that store half-precision depth bins with byte voxels.
#include "compute/cuda/fused_launch.cuh"

namespace echolux::cuda {

void launch_fused_bytes_and_half_bins(const FusedWork& work, std::int64_t transform, cudaStream_t stream) {
    launch_fused_lines<VoxelAndBin<ByteVoxel, KeptHalfBin>>(work, transform, stream);
}

}  // namespace echolux::cuda
