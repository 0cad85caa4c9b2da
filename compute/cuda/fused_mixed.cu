// Variants of the fused kernel for lengths that are products of small numbers, known at run time or at compile time.
#include "compute/cuda/fused.h"
#include "compute/cuda/fused_kernel.cuh"

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
        case FusedOutput::bins: return launch<StoredBin>(work, shape, stream);
        case FusedOutput::byte_voxels_and_bins: return launch<VoxelAndBin<ByteVoxel, StoredBin>>(work, shape, stream);
        case FusedOutput::byte_voxels_and_half_bins:
            return launch<VoxelAndBin<ByteVoxel, StoredHalfBin>>(work, shape, stream);
    }
}

// ---- Variants of the fused kernel for lengths of common spectrometers, known at compile time, for live views: dB
// bytes with cubic interpolation. Their shapes are the fastest of several tried on an H200.

// Calls use(KnownLength) if the transform has one, and returns whether it does.
template <class Use>
static bool with_known_length(std::int64_t transform, const Use& use) {
    switch (transform) {
        case 832: return use(KnownLength<64, 1, 1, 8, 13, 8>{}), true;
        case 1000: return use(KnownLength<64, 1, 1, 10, 10, 10>{}), true;
        case 1536: return use(KnownLength<96, 1, 1, 8, 12, 16>{}), true;
        case 2000: return use(KnownLength<128, 1, 1, 10, 10, 20>{}), true;
        case 3000: return use(KnownLength<192, 1, 1, 15, 10, 20>{}), true;
        default: return false;
    }
}

std::optional<MixedShape> known_shape(std::int64_t transform, std::int64_t samples) {
    std::optional<MixedShape> shape;
    with_known_length(transform, [&](auto length) { shape = length.shape(samples); });
    if (shape && shape->shared_bytes() > max_shared_bytes()) return {};
    return shape;
}

void launch_fused_known(const FusedWork& work, const MixedShape& shape, FusedOutput output, cudaStream_t stream) {
    with_known_length(shape.length.n, [&](auto length) {
        using Length = decltype(length);
        const auto launch = [&]<class Voxel>(Voxel) {
            launch_fused_mixed<Length, CubicTaps, Voxel>(work, shape, stream);
        };
        switch (output) {
            case FusedOutput::byte_voxels_and_bins: return launch(VoxelAndBin<ByteVoxel, StoredBin>{});
            case FusedOutput::byte_voxels_and_half_bins: return launch(VoxelAndBin<ByteVoxel, StoredHalfBin>{});
            default: return launch(ByteVoxel{});
        }
    });
}

}  // namespace echolux::cuda
