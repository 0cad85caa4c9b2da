// What engine/live/tissue_work.h does to volumes, for those that lie in a GPU's memory: no voxel of them comes to the
// host but for stabilising.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "compute/block_memory.h"
#include "compute/volume_on_gpu.h"
#include "engine/live/tissue_work.h"

namespace echolux {

// Of one time point, packed, in a GPU's memory.
struct VolumeThere {
    VolumeGrid grid;
    std::optional<VolumeGrid> flow_grid;
    BlockMemory structure, flow;
};

// Used by one thread.
class TissueOnGpu {
  public:
    explicit TissueOnGpu(const DeviceId& gpu) : choice_{.backend = Backend::cuda, .gpu = gpu} {}

    // From the next volume on. Throws as check_tissue().
    void set(const LiveTissue& tissue);

    // Works on the volume, then has it written: `show` calls what it is given with the places. What cannot be done is
    // left out and said. Throws Error{cancelled, device} and what `show` throws.
    using Write = std::function<void(const Places& to)>;
    TissueDone apply(std::int64_t number, VolumeThere& volume, Progress& progress,
                     const std::function<void(const Write& write)>& show);

  private:
    void make_ready(const VolumeThere& volume, TissueDone& done);
    void stabilise(float* power, VolumeThere& volume, TissueDone& done, Progress& progress);

    BackendChoice choice_;
    LiveTissue tissue_;
    std::unique_ptr<VolumeOnGpu> work_;  // nothing: not for these settings yet
    VolumeGrid grid_;                    // of it
    std::optional<VolumeGrid> flow_grid_;
    bool has_power_ = false;  // its codes say power
    std::string no_power_;    // why not
    PowerOnHost power_;       // until shifts are found and applied where the power is
    Stabiliser stabiliser_;
};

}  // namespace echolux
