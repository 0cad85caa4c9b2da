// Removal of projection artifacts ("tails") below vessels (docs/angiography.md). Light that has passed a vessel
// fluctuates with its blood, so static tissue below appears to flow. Real flow decorrelates more than everything above
// it (M. Zhang et al., Biomed. Opt. Express 7(3), 2016).
#pragma once

#include <cstdint>

#include "compute/host_device.h"

namespace echolux {

// Masks one A-scan from the top down. A voxel is kept if its smoothed value exceeds the max of all voxels at least
// `gap` above it, where `gap` is the max thickness of a vessel.
struct TailMask {
    std::int64_t gap = 9;

    ECHOLUX_HD_CALLER
    template <class Smoothed, class Keep>
    ECHOLUX_HD void operator()(std::int64_t depth, const Smoothed& smoothed, const Keep& keep) const {
        float greatest = 0;
        for (std::int64_t z = 0; z < depth; ++z) {
            if (z >= gap) {
                const float above = smoothed(z - gap);
                greatest = above > greatest ? above : greatest;
            }
            keep(z, smoothed(z) > greatest);
        }
    }
};

}  // namespace echolux
