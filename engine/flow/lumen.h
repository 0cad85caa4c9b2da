// Where a vessel is: the voxels around a point that move.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/flow/cross_section.h"

namespace echolux {

struct Lumen {
    std::vector<std::uint8_t> inside;  // of the whole volume
    VoxelPlace start;                  // the point, or the moving voxel nearest to it
};

// The voxel of a place. Throws Error{bad_setting} with the name of its setting: it lies outside.
std::array<std::int64_t, 3> voxel_at(const VolumeGrid& grid, const VoxelPlace& place, const char* setting);

// Connected voxels faster than noise, no further from the point than recipe.course_um along any axis. Throws
// Error{bad_setting}: the point lies outside, nothing moves near it.
Lumen lumen_around(const VolumeGrid& grid, const MeanVelocity& mean, const CrossSectionRecipe& recipe,
                   const std::optional<VoxelPlace>& point);

}  // namespace echolux
