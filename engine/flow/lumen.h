// Where a vessel is: the voxels around a point that move.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/flow/cross_section.h"

namespace echolux {

struct Lumen {
    std::vector<std::uint8_t> inside;  // of the whole volume
    VoxelPlace start;                  // the point, or the moving voxel nearest to it
};

// Connected voxels faster than noise, no further from the point than recipe.course_um along any axis. Throws
// Error{bad_setting}: the point lies outside, nothing moves near it.
Lumen lumen_around(const VolumeGrid& grid, const MeanVelocity& mean, const CrossSectionRecipe& recipe,
                   const std::optional<VoxelPlace>& point);

}  // namespace echolux
