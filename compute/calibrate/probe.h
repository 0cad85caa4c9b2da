// Reconstructs a block once, with some of the recipe changed, to measure something in it.
#pragma once

#include <cstddef>
#include <vector>

#include "compute/reconstructor.h"

namespace echolux {

struct Probe {
    VolumeGrid grid;
    std::vector<std::byte> voxels;
};

// All depth bins of the block's B-scans, as `recipe` says but uncropped.
Probe probed(const ReconstructionPlan& plan, const Recipe& recipe, const Block& block);

// First depth row that is not zero delay: autocorrelation terms and the foot of the DC peak come before.
std::int64_t first_row_past_zero_delay(std::int64_t depth);

}  // namespace echolux
