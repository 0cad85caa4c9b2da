// Enqueues the work of a block on a worker's stream from raw lines to structure and flow voxels: in a single kernel if
// possible, otherwise in separate passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "compute/cuda/line_method.h"
#include "compute/cuda/target.h"
#include "compute/repeat_report.h"

namespace echolux::cuda {

// Where the results of a block are written.
struct BlockTargets {
    DeviceTarget structure;
    std::optional<DeviceTarget> flow;
    RepeatReport* reports = nullptr;  // [frames] in GPU memory; null: not needed

    // Returns the targets of work that starts the given numbers of output lines and acquired B-scans later.
    BlockTargets from(std::int64_t structure_lines, std::int64_t flow_lines, std::int64_t frames) const {
        BlockTargets later{structure.from(structure_lines), flow, reports};
        if (flow) later.flow = flow->from(flow_lines);
        if (reports != nullptr) later.reports += frames;
        return later;
    }
};

// Whole slow-axis positions of a volume.
struct RawPositions {
    RawLines lines;
    std::int64_t count = 0;
    std::int64_t first_frame = 0;  // acquired B-scan of line 0 in the volume
};

// Enqueues whole blocks or parts of them.
class Passes {
  public:
    virtual ~Passes() = default;
    virtual void enqueue(const RawPositions& positions, const BlockTargets& targets) = 0;
};

}  // namespace echolux::cuda
