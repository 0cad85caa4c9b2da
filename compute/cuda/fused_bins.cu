// The variants of the fused kernel that keep the depth bins, alone or beside voxels of bytes.
#include "compute/cuda/fused_launch.cuh"

namespace echolux::cuda {

void launch_fused_bins(const FusedWork& work, const RawFormat& format, const Lengths& lengths, cudaStream_t stream) {
    launch_fused<KeptBin>(work, format, lengths, stream);
}

void launch_fused_bytes_and_bins(const FusedWork& work, const RawFormat& format, const Lengths& lengths,
                                 cudaStream_t stream) {
    launch_fused<VoxelAndBin<ByteVoxel>>(work, format, lengths, stream);
}

}  // namespace echolux::cuda
