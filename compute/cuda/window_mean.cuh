// Phase steps averaged over a window of depth bins and lines, from sums over the lines (enqueue_sums_over_lines).
#pragma once

#include "compute/cuda/flow_work.h"

namespace echolux::cuda {

// Averages the sums over a window. Passed to kernels by value.
struct WindowMean {
    const float4* sums;
    std::int64_t window_positions;
    std::int64_t window_depth;

    // Returns the mean at A-scan `a`.
    __device__ PhaseStep operator()(const FlowWork& work, std::int64_t slow, std::int64_t a, int z) const {
        return work.mixed(slow, a, [&](std::int64_t recorded) { return at(work, slow, recorded, z); });
    }

  private:
    __device__ PhaseStep at(const FlowWork& work, std::int64_t slow, std::int64_t recorded, int z) const {
        const std::int64_t positions = work.repeats.positions, position = min(recorded, positions - 1);
        const WindowSpan lines(position, window_positions, positions), bins(z, window_depth, work.depth);
        const float4* line = sums + (slow * positions + position) * work.depth;
        PhaseStep sum;
        for (std::int64_t i = bins.begin; i < bins.end; ++i) {
            const float4 value = __ldg(line + i);
            sum.add({{value.x, value.y}, value.z});
        }
        return sum.times(1.0f / static_cast<float>(lines.size() * bins.size() * work.compared_of(slow).pairs()));
    }
};

}  // namespace echolux::cuda
