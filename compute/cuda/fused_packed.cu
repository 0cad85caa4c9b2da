// Variants of the fused kernel that pack lines: two real lines in one transform, and four lines in half precision.
#include "compute/cuda/fused_kernel.cuh"

namespace echolux::cuda {

// For real weights of the k grid.
void launch_fused_two_in_one(const FusedWork& work, bool bytes, std::int64_t transform, cudaStream_t stream) {
    if (bytes) {
        launch_fused<TwoInOne, ByteVoxel>(work, transform, stream);
    } else {
        launch_fused<TwoInOne, AnyVoxel>(work, transform, stream);
    }
}

void launch_fused_halves(const FusedWork& work, bool bytes, std::int64_t transform, cudaStream_t stream) {
    if (bytes) {
        launch_fused<Halves, ByteVoxel>(work, transform, stream);
    } else {
        launch_fused<Halves, AnyVoxel>(work, transform, stream);
    }
}

}  // namespace echolux::cuda
