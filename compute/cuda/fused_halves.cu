// Variants of the fused kernel in half precision.
#include "compute/cuda/fused_launch.cuh"

namespace echolux::cuda {

void launch_fused_halves(const FusedWork& work, bool bytes, std::int64_t transform, cudaStream_t stream) {
    if (bytes) {
        launch_fused_words<CubicTaps, Halves, ByteVoxel>(work, transform, stream);
    } else {
        launch_fused_words<CubicTaps, Halves, AnyVoxel>(work, transform, stream);
    }
}

}  // namespace echolux::cuda
