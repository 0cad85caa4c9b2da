// Variants of the fused kernel for real weights of the k grid.
#include "compute/cuda/fused_launch.cuh"

namespace echolux::cuda {

void launch_fused_two_in_one(const FusedWork& work, bool bytes, std::int64_t transform, cudaStream_t stream) {
    if (bytes) {
        launch_fused_words<CubicTaps, TwoInOne, ByteVoxel>(work, transform, stream);
    } else {
        launch_fused_words<CubicTaps, TwoInOne, AnyVoxel>(work, transform, stream);
    }
}

}  // namespace echolux::cuda
