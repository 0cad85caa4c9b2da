// Where the renderer reads a volume from, box by box, so that one which the device cannot hold at once is read again,
// page by page, as pictures want other parts of it: memory now, files that can be read in parts by the same face.
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

class VoxelSource {
  public:
    virtual ~VoxelSource() = default;

    virtual const VolumeGrid& grid() const = 0;

    // The codes of a box inside the grid, depth fastest, packed, as grid().type says. Called by several threads at a
    // time. Throws what reading throws.
    virtual void read(const VoxelBox& box, std::byte* codes) const = 0;

    // What pictures span where neither view nor preset knows: 1st and 99.9th percentile of evenly spaced voxels, the dB
    // of zero left out; low < high always.
    virtual ValueRange range() const;
};

// Voxels in memory: grid.bytes() from `voxels` on, which `owner` keeps alive, or the caller.
std::shared_ptr<const VoxelSource> voxels_in_memory(const VolumeGrid& grid, const void* voxels,
                                                    std::shared_ptr<const void> owner = {});

}  // namespace echolux
