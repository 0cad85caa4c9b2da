// Variants of the fused kernel that store depth bins, alone or with byte voxels.
#include "compute/cuda/fused_kernel.cuh"

namespace echolux::cuda {

void launch_fused_bins(const FusedWork& work, std::int64_t transform, cudaStream_t stream) {
    launch_fused<SideBySide, StoredBin>(work, transform, stream);
}

void launch_fused_bytes_and_bins(const FusedWork& work, std::int64_t transform, cudaStream_t stream) {
    launch_fused<SideBySide, VoxelAndBin<ByteVoxel, StoredBin>>(work, transform, stream);
}

void launch_fused_bytes_and_half_bins(const FusedWork& work, std::int64_t transform, cudaStream_t stream) {
    launch_fused<SideBySide, VoxelAndBin<ByteVoxel, StoredHalfBin>>(work, transform, stream);
}

}  // namespace echolux::cuda
