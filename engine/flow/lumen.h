// Finds a vessel: the connected moving voxels around a point.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/flow/cross_section.h"

namespace echolux {

struct Lumen {
    std::vector<std::uint8_t> inside;  // 1 inside, over the whole volume
    VoxelPlace start;                  // the given point or the moving voxel nearest to it
};

// Returns the voxel at a position. Throws Error{bad_setting} with the name of the setting if it is outside the volume.
std::array<std::int64_t, 3> voxel_at(const VolumeGrid& grid, const VoxelPlace& place, const char* setting);

// Returns the connected voxels that move faster than noise, within recipe.course_um of the point along each axis.
// Without a point, starts at the fastest voxel of the middle B-scan. Throws Error{bad_setting} if the point is outside
// the volume or nothing moves near it.
Lumen lumen_around(const VolumeGrid& grid, const MeanVelocity& mean, const CrossSectionRecipe& recipe,
                   const std::optional<VoxelPlace>& point);

}  // namespace echolux
