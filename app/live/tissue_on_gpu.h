// GPU version of engine/live/tissue_work.h: processes volumes in GPU memory without copying voxels to the host.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "compute/place.h"
#include "compute/tissue_on_gpu.h"
#include "engine/live/tissue_work.h"

namespace echolux {

// One time point, packed, in GPU memory.
struct VolumeThere {
    VolumeGrid grid;
    std::optional<VolumeGrid> flow_grid;
    BlockMemory structure, flow;
};

// Power volume that is aligned in GPU memory. The reference persists across volumes.
class AlignableOnGpu : public AlignablePower {
  public:
    explicit AlignableOnGpu(const BackendChoice& choice) : choice_(choice) {}

    void set_settings(const RegistrationSettings& settings);
    // Takes over a volume. Data that `work` has read remain valid until the next call.
    void take(const VolumeGrid& grid, float* power, VolumeOnGpu& work);

    bool has_reference() const override { return reference_ != nullptr; }
    std::vector<RowShift> find(To to, Progress& progress) override;
    std::int64_t move(const std::vector<RowShift>& rows) override;
    void become_reference() override;
    void forget_reference() override { reference_.reset(); }
    void give_memory_back();  // also releases the reference

  private:
    PowerOnGpu there() const { return {grid_, power_}; }

    BackendChoice choice_;
    RegistrationSettings settings_;
    VolumeGrid grid_;
    float* power_ = nullptr;
    VolumeOnGpu* work_ = nullptr;
    std::shared_ptr<RegistrationOnGpu> registration_;  // its memory is reused for all volumes; null before the first
    std::unique_ptr<const Reference> reference_;
    std::unique_ptr<RegisteredMean> mean_;  // null until there is one for this grid
};

// For use by one thread.
class TissueOnGpu {
  public:
    explicit TissueOnGpu(const DeviceId& gpu) : choice_{.backend = Backend::cuda, .gpu = gpu}, power_(choice_) {}

    // Takes effect with the next volume. Throws like check_tissue().
    void set(const LiveTissue& tissue);

    // Processes the volume and writes it: `show` calls its argument with the target places. Steps that are impossible
    // are skipped and reported. Throws Error{cancelled, device} and what `show` throws.
    using Write = std::function<void(const Places& to)>;
    TissueDone apply(std::int64_t number, VolumeThere& volume, Progress& progress,
                     const std::function<void(const Write& write)>& show);

  private:
    void make_ready(const VolumeThere& volume);
    void stabilise(float* power, VolumeThere& volume, TissueDone& done, Progress& progress);
    void filter(const std::string& obstacle, TissueDone& done);

    BackendChoice choice_;
    LiveTissue tissue_;
    std::unique_ptr<VolumeOnGpu> work_;  // null until created for the current settings
    VolumeGrid grid_;                    // grid of work_
    std::optional<VolumeGrid> flow_grid_;
    std::string no_power_;   // why its codes cannot be converted to power; empty if they can
    std::string no_filter_;  // why there is no filter
    AlignableOnGpu power_;
    Stabiliser stabiliser_;
};

}  // namespace echolux
