// Variants of the fused kernel for lengths known only at run time.
#include "compute/cuda/fused_mixed_kernel.cuh"

namespace echolux::cuda {
namespace {

template <class Voxel>
void launch(const FusedWork& work, const MixedShape& shape, cudaStream_t stream) {
    if (work.points.taps == nullptr) {
        launch_fused_mixed<AnyLength, CubicTaps, Voxel>(work, shape, stream);
    } else {
        launch_fused_mixed<AnyLength, TabledTaps, Voxel>(work, shape, stream);
    }
}

}  // namespace

void launch_fused_mixed(const FusedWork& work, const MixedShape& shape, FusedOutput output, cudaStream_t stream) {
    switch (output) {
        case FusedOutput::byte_voxels: return launch<ByteVoxel>(work, shape, stream);
        case FusedOutput::any_voxels: return launch<AnyVoxel>(work, shape, stream);
        case FusedOutput::bins: return launch<KeptBin>(work, shape, stream);
        case FusedOutput::byte_voxels_and_bins: return launch<VoxelAndBin<ByteVoxel, KeptBin>>(work, shape, stream);
        case FusedOutput::byte_voxels_and_half_bins:
            return launch<VoxelAndBin<ByteVoxel, KeptHalfBin>>(work, shape, stream);
    }
}

}  // namespace echolux::cuda
