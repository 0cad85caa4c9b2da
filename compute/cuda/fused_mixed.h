// The fused kernel for lengths that are products of 2 ... 13 (fused_mixed_kernel.cuh), from the host's side: from 64 to
// 8192 points, where the chip has room for them.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>

#include "compute/cuda/mixed_radix.h"
#include "compute/plan/params.h"

namespace echolux::cuda {

struct FusedWork;

// How a block of threads shares its work.
struct MixedShape {
    static constexpr int max_block = 640;  // threads, so that each has some 100 registers

    MixedRadix length;
    int groups = 1;     // each has a pair of lines
    int threads = 1;    // of a group
    int row_bytes = 0;  // of a line's spectrum, or of its voxels where these need more; multiple of 16

    static constexpr int row_bytes_for(std::int64_t samples, std::int64_t voxel_row_bytes) {
        constexpr std::int64_t aligned = 16;
        const std::int64_t spectrum = samples * 4, bytes = spectrum > voxel_row_bytes ? spectrum : voxel_row_bytes;
        return static_cast<int>((bytes + aligned - 1) / aligned * aligned);
    }
    int shared_bytes() const { return groups * (length.exchange_points * 16 + 2 * row_bytes); }
};

// On the current device; `voxel_bytes` 0: no voxels. Nothing for lengths without a kernel.
std::optional<MixedShape> mixed_shape(std::int64_t transform, std::int64_t samples, std::int64_t voxel_bytes);

enum class FusedOutput { byte_voxels, any_voxels, bins, byte_voxels_and_bins, byte_voxels_and_half_bins };

void launch_fused_mixed(const FusedWork& work, const MixedShape& shape, FusedOutput output, cudaStream_t stream);

// The same of lengths that are known while compiling; for byte voxels, with bins or without, and cubic taps.
std::optional<MixedShape> known_shape(std::int64_t transform, std::int64_t samples);
void launch_fused_known(const FusedWork& work, const MixedShape& shape, FusedOutput output, cudaStream_t stream);

}  // namespace echolux::cuda
