// Voxels of one type as voxels of another: value = code * scale + offset stays what it was, as far as the new codes can
// tell. Integers cover a range of values from their least code to their greatest; what lies outside gets the nearest.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compute/types.h"

namespace echolux {

class Recoder {
  public:
    // `range` is of values, for u8, u16 and i16; not needed where codes are kept as they are (u8 as u16). Throws
    // Error{bad_setting}: a range that is missing or empty, complex voxels, f16.
    Recoder(const VolumeGrid& grid, VoxelType type, std::optional<std::pair<double, double>> range);

    const VolumeGrid& grid() const { return grid_; }  // with the new type, scale and offset

    // NaN becomes the least code.
    std::vector<std::byte> operator()(std::span<const std::byte> voxels) const;

  private:
    VoxelType from_;
    double scale_ = 1, offset_ = 0;  // new code = old code * scale + offset
    VolumeGrid grid_;
};

}  // namespace echolux
