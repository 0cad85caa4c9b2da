// Synthetic volumes for the rendering benchmarks.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "compute/types.h"

namespace echolux {

struct BenchVolume {
    VolumeGrid grid;
    std::vector<std::byte> voxels;
};

// u8 dB above the noise floor, `size` = depth, A-scans, B-scans. A wavy surface at about a quarter of the depth, tissue
// that darkens with depth, a vessel in it, fully developed speckle, and noise above. The result depends only on `size`.
BenchVolume speckled_tissue(const std::array<std::int64_t, 3>& size);

}  // namespace echolux
