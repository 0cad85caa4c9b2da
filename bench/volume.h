// Volumes that rendering is measured with.
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

// u8 dB above the noise floor, `size` = depth, A-scans, B-scans: a wavy surface below a quarter of the depth, tissue of
// falling brightness and a vessel below it, all in fully developed speckle, noise above. The same for the same size.
BenchVolume speckled_tissue(const std::array<std::int64_t, 3>& size);

}  // namespace echolux
