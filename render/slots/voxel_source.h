// Sources of voxels, read box by box. Volumes larger than the device memory are read page by page for each picture.
// Sources are memory and files that support partial reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "compute/types.h"
#include "render/transfer_function.h"

namespace echolux {

using Indices = std::array<std::int64_t, 3>;  // along depth, A-scans, B-scans

struct VoxelBox {
    Indices first{};
    Indices extent{};

    std::int64_t voxels() const { return extent[0] * extent[1] * extent[2]; }
};

// Interface of a volume's voxels. The grid is constant.
class VoxelSource {
  public:
    virtual ~VoxelSource() = default;

    virtual const VolumeGrid& grid() const = 0;

    // Reads the codes of a box inside the grid, of type grid().type, packed with depth fastest. Called from several
    // threads at a time. Throws the errors of the source.
    virtual void read(const VoxelBox& box, std::byte* codes) const = 0;

    // Returns the range of values for pictures unless view or preset has one: the 1st and 99.9th percentile of evenly
    // spaced voxels, without the dB value of zero. low < high always.
    virtual ValueRange range() const;
};

// Returns a source of grid.bytes() bytes in memory. Either `owner` or the caller keeps them alive.
std::shared_ptr<const VoxelSource> voxels_in_memory(const VolumeGrid& grid, const void* voxels,
                                                    std::shared_ptr<const void> owner = {});

}  // namespace echolux
