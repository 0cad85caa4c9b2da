// Converts voxels to another type so that value = code * scale + offset is preserved within the precision of the new
// codes. For integers, a range of values is mapped to all codes; values outside are clamped.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compute/types.h"

namespace echolux {

// Converts voxels of one grid. Thread-safe after construction.
class Recoder {
  public:
    // `range` is the range of values for u8, u16 and i16; not needed if codes are unchanged (u8 as u16). Throws
    // Error{bad_setting} for a missing or empty range, complex voxels and f16.
    Recoder(const VolumeGrid& grid, VoxelType type, std::optional<std::pair<double, double>> range);

    const VolumeGrid& grid() const { return grid_; }  // with the new type, scale and offset

    // Converts voxels. NaN becomes the smallest code.
    std::vector<std::byte> operator()(std::span<const std::byte> voxels) const;

  private:
    VoxelType from_;
    double scale_ = 1, offset_ = 0;  // new code = old code * scale + offset
    VolumeGrid grid_;
};

}  // namespace echolux
