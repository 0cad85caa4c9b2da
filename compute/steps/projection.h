// Tails below vessels (docs/angiography.md): light that has passed a vessel trembles with its blood, so that static
// tissue below seems to flow. What flows itself decorrelates more than all that lies above it (M. Zhang et al., Biomed.
// Opt. Express 7(3), 2016).
#pragma once

#include <cstdint>

#include "compute/host_device.h"

namespace echolux {

// Of one A-scan, smoothed(z) from above. A voxel stays where its value exceeds the greatest of all that lie at least
// `gap` voxels above: the vessel it belongs to is no deeper than that.
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
