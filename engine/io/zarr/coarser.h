// Halves the resolution of a volume, slice by slice. Each voxel is the mean of 2 x 2 x 2 voxels, fewer at the edges.
// value = code * scale + offset is linear, so the mean of the codes is the code of the mean. Integers are rounded,
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
    // `size`: columns, rows, slices.
    Coarser(std::array<std::int64_t, 3> size, VoxelType type);

    const std::array<std::int64_t, 3>& size() const { return coarse_; }  // half of the size, rounded up

    // Adds the next slice. Returns a coarse slice after every second one, and after the last one of each volume.
    std::optional<std::vector<std::byte>> add(std::span<const std::byte> slice);

  private:
    std::array<std::int64_t, 3> size_, coarse_;
    VoxelType type_;
    std::int64_t next_ = 0;  // next slice of the volume
    std::vector<std::byte> before_;
};

}  // namespace echolux::zarr
