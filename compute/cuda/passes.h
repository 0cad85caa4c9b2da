// The way of a block on a worker's stream, from raw lines to voxels of structure and flow: in one kernel where that can
// be, in separate passes otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "compute/cuda/line_method.h"
#include "compute/cuda/target.h"
#include "compute/repeat_report.h"

namespace echolux::cuda {

struct BlockTargets {
    DeviceTarget structure;
    std::optional<DeviceTarget> flow;
    RepeatReport* reports = nullptr;  // [frames] in the GPU's memory; null: none are wanted

    // The same for work that begins so many output lines, and acquired B-scans, later.
    BlockTargets from(std::int64_t structure_lines, std::int64_t flow_lines, std::int64_t frames) const {
        BlockTargets later{structure.from(structure_lines), flow, reports};
        if (flow) later.flow = flow->from(flow_lines);
        if (reports != nullptr) later.reports += frames;
        return later;
    }
};

// Whole slow positions of a volume.
struct RawPositions {
    RawLines lines;
    std::int64_t count = 0;
    std::int64_t first_frame = 0;  // of the volume: the acquired B-scan that line 0 belongs to
};

class Passes {
  public:
    virtual ~Passes() = default;
    virtual void enqueue(const RawPositions& positions, const BlockTargets& targets) = 0;
};

}  // namespace echolux::cuda
