// Host side of the fused kernel for lengths that are products of 2 ... 13 (fused_mixed_kernel.cuh), from 64 to 8192
// points if they fit on chip.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>

#include "compute/cuda/mixed_radix.h"
#include "compute/plan/params.h"

namespace echolux::cuda {

struct FusedWork;

// Division of a thread block's work.
struct MixedShape {
    static constexpr int max_block = 640;  // threads, which leaves about 100 registers each

    MixedRadix length;
    int groups = 1;     // each processes one pair of lines
    int threads = 1;    // per group
    int row_bytes = 0;  // for a line's spectrum, or its voxels if larger; multiple of 16

    static constexpr int row_bytes_for(std::int64_t samples, std::int64_t voxel_row_bytes) {
        constexpr std::int64_t aligned = 16;
        const std::int64_t spectrum = samples * 4, bytes = spectrum > voxel_row_bytes ? spectrum : voxel_row_bytes;
        return static_cast<int>((bytes + aligned - 1) / aligned * aligned);
    }
    int shared_bytes() const { return groups * (length.exchange_points * 16 + 2 * row_bytes); }
};

// Returns the shape for the current device, or nothing for unsupported lengths. `voxel_bytes` is 0 without voxels.
std::optional<MixedShape> mixed_shape(std::int64_t transform, std::int64_t samples, std::int64_t voxel_bytes);

enum class FusedOutput { byte_voxels, any_voxels, bins, byte_voxels_and_bins, byte_voxels_and_half_bins };

// Enqueues the kernel for any supported length.
void launch_fused_mixed(const FusedWork& work, const MixedShape& shape, FusedOutput output, cudaStream_t stream);

// Variants for lengths known at compile time. For byte voxels, with or without bins, and cubic taps.
std::optional<MixedShape> known_shape(std::int64_t transform, std::int64_t samples);
void launch_fused_known(const FusedWork& work, const MixedShape& shape, FusedOutput output, cudaStream_t stream);

}  // namespace echolux::cuda
