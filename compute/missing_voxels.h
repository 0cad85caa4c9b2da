// Voxels of B-scans whose spectra were lost, and of A-scans with invalid samples. They have no value: NaN as f32, f16
// and complex64, code 0 as u8, u16 and i16, a phasor of length 0 (no phase) as phasor8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "compute/plan/params.h"
#include "compute/types.h"
#include "compute/voxel_target.h"

namespace echolux {

using VoxelCode = std::array<std::byte, 8>;  // the first bytes_of(type) of them

// One voxel without a value.
VoxelCode missing_code(VoxelType type);

// Returns the code of a voxel without a value. Textures must not contain NaN, so in a texture f32 and f16 get the
// lowest value: recipe.low of dB, otherwise 0.
VoxelCode missing_structure_code(const Recipe& recipe, VoxelType type, bool in_texture);
VoxelCode missing_flow_code(VoxelType type, bool in_texture);

// Writes `count` voxels of a line in host memory.
void store_line(std::byte* line, std::int64_t count, VoxelType type, const VoxelCode& code);

// Writes `slices` slices from `first` of the volume on to host memory.
void store_missing(const VolumeGrid& grid, const VoxelTarget& target, std::int64_t first, std::int64_t slices,
                   const VoxelCode& code);

// Writes the structure, peaks and flow of a missing block to host memory.
void store_missing(const ReconstructionSpec& spec, const VolumeGrid& grid, const std::optional<VolumeGrid>& flow_grid,
                   const Block& block, const VoxelTargets& targets);

// Only floating-point voxels can be NaN in textures; others have a code for it.
constexpr bool can_be_nan(VoxelType type) {
    return type == VoxelType::f32 || type == VoxelType::f16;
}

// Replaces NaN in the structure, peaks and flow of a block in host memory that goes into textures.
void replace_missing(const ReconstructionSpec& spec, const VolumeGrid& grid, const std::optional<VolumeGrid>& flow_grid,
                     const Block& block, const VoxelTargets& targets);

}  // namespace echolux
