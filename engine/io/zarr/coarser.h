// A volume at half its resolution, slice by slice: each voxel is the mean of the 2 x 2 x 2 below it (of fewer at the
// edges). Value = code * scale + offset is linear, so the mean of codes is the code of the mean; integers are rounded,
// halves upwards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compute/types.h"

namespace echolux::zarr {

class Coarser {
  public:
    // columns, rows, slices
    Coarser(std::array<std::int64_t, 3> size, VoxelType type);

    const std::array<std::int64_t, 3>& size() const { return coarse_; }  // halves, rounded up

    // The next slice; after every second, and after the last of a volume, the coarser one.
    std::optional<std::vector<std::byte>> add(std::span<const std::byte> slice);

  private:
    std::array<std::int64_t, 3> size_, coarse_;
    VoxelType type_;
    std::int64_t next_ = 0;  // slice of the volume
    std::vector<std::byte> before_;
};

}  // namespace echolux::zarr
