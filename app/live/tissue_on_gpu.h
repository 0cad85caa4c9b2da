// What engine/live/tissue_work.h does to volumes, for those that lie in a GPU's memory: no voxel of them comes to the
// host.
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

// Power that is aligned where it lies. The reference outlives the volumes.
class AlignableOnGpu : public AlignablePower {
  public:
    explicit AlignableOnGpu(const BackendChoice& choice) : choice_(choice) {}

    void set_settings(const RegistrationSettings& settings);
    // What `work` has read stays there until the next one.
    void take(const VolumeGrid& grid, float* power, VolumeOnGpu& work);

    bool has_reference() const override { return reference_ != nullptr; }
    std::vector<RowShift> find(To to, Progress& progress) override;
    std::int64_t move(const std::vector<RowShift>& rows) override;
    void become_reference() override;
    void forget_reference() override { reference_.reset(); }
    void give_memory_back();  // and the reference with it

  private:
    PowerOnGpu there() const { return {grid_, power_}; }

    BackendChoice choice_;
    RegistrationSettings settings_;
    VolumeGrid grid_;
    float* power_ = nullptr;
    VolumeOnGpu* work_ = nullptr;
    std::shared_ptr<RegistrationOnGpu> registration_;  // its memory serves all volumes; nothing: none yet
    std::unique_ptr<const Reference> reference_;
    std::unique_ptr<RegisteredMean> mean_;  // nothing: none of this grid yet
};

// Used by one thread.
class TissueOnGpu {
  public:
    explicit TissueOnGpu(const DeviceId& gpu) : choice_{.backend = Backend::cuda, .gpu = gpu}, power_(choice_) {}

    // From the next volume on. Throws as check_tissue().
    void set(const LiveTissue& tissue);

    // Works on the volume, then has it written: `show` calls what it is given with the places. What cannot be done is
    // left out and said. Throws Error{cancelled, device} and what `show` throws.
    using Write = std::function<void(const Places& to)>;
    TissueDone apply(std::int64_t number, VolumeThere& volume, Progress& progress,
                     const std::function<void(const Write& write)>& show);

  private:
    void make_ready(const VolumeThere& volume);
    void stabilise(float* power, VolumeThere& volume, TissueDone& done, Progress& progress);
    void filter(const std::string& obstacle, TissueDone& done);

    BackendChoice choice_;
    LiveTissue tissue_;
    std::unique_ptr<VolumeOnGpu> work_;  // nothing: not for these settings yet
    VolumeGrid grid_;                    // of it
    std::optional<VolumeGrid> flow_grid_;
    std::string no_power_;   // why its codes say no power; empty: they do
    std::string no_filter_;  // why it has no filter
    AlignableOnGpu power_;
    Stabiliser stabiliser_;
};

}  // namespace echolux
