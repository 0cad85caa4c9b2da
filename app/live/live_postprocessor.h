// Processing stage between the reconstructor and the live ring (engine/live/postprocessing.h). Volumes are
// reconstructed into one of two buffers. A thread processes them and passes them to the display. While it works on one
// volume, the next one is reconstructed into the other buffer. If both are in use, volumes are skipped and counted.
// Acquisition, recording and pictures never wait for this stage.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "compute/tissue_on_gpu.h"
#include "compute/voxel_target.h"
#include "engine/live/postprocessing.h"
#include "engine/live/volume_ring.h"

namespace echolux {

// ---- GPU version of engine/live/postprocessing.h: processes volumes in GPU memory without copying voxels to the host.

// One time point, packed, in GPU memory.
struct DeviceVolume {
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
    void release_memory();  // also releases the reference

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
class GpuPostprocessor {
  public:
    explicit GpuPostprocessor(const DeviceId& gpu) : choice_{.backend = Backend::cuda, .gpu = gpu}, power_(choice_) {}

    // Takes effect with the next volume. Throws like check_tissue().
    void set(const LiveTissue& tissue);

    // Processes the volume and writes it: `show` calls its argument with the target places. Steps that are impossible
    // are skipped and reported. Throws Error{cancelled, device} and what `show` throws.
    using Write = std::function<void(const VoxelTargets& to)>;
    PostprocessingResult apply(std::int64_t number, DeviceVolume& volume, Progress& progress,
                               const std::function<void(const Write& write)>& show);

  private:
    void make_ready(const DeviceVolume& volume);
    void stabilise(float* power, DeviceVolume& volume, PostprocessingResult& done, Progress& progress);
    void filter(const std::string& obstacle, PostprocessingResult& done);

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

// ---- Processing stage

class LivePostprocessor {
  public:
    // Called on the processing thread to write a volume to places of the display. If the volume is no longer needed,
    // nothing is written.
    using Show = std::function<void(const VolumeStamp& stamp, const GpuPostprocessor::Write& write)>;
    using ResultCallback = std::function<void(const PostprocessingResult& done, const VolumeGrid& grid)>;

    explicit LivePostprocessor(Show show, ResultCallback on_result);
    ~LivePostprocessor();  // discards waiting volumes

    // ---- feeding thread

    // Takes effect with the next volume.
    void set(const LiveTissue& tissue) { tissue_ = std::make_shared<const LiveTissue>(tissue); }
    const LiveTissue& settings() const { return *tissue_; }

    // Returns places for a new volume, in the memory of `gpu` if given. std::nullopt if the volume is skipped, which is
    // counted. Throws Error{out_of_memory}.
    std::optional<VoxelTargets> begin(const VolumeStamp& stamp, const VolumeGrid& grid,
                                      const std::optional<VolumeGrid>& flow_grid, const std::optional<DeviceId>& gpu);

    // hand_over(): the volume is complete. drop(): it never will be, and nothing writes to it any longer.
    void hand_over();
    void drop();

    // Throws the error of a device that failed since the last call.
    void rethrow();

    // After this call no volume handed over earlier will be shown; they count as skipped. Running work ends soon.
    void cancel();

    // Like cancel(), but waits for running work and releases all memory.
    void clear();

    // ---- any thread

    // Waits until all volumes handed over are shown. Returns false on timeout.
    bool finish(std::chrono::milliseconds timeout);

    TissueLog& log() { return log_; }
    const TissueLog& log() const { return log_; }

  private:
    enum class State { free, coming, waiting, at_work };
    struct QueuedVolume {
        State state = State::free;
        bool is_abandoned = false, is_showing = false;  // of a volume being processed
        std::uint64_t turn = 0;
        VolumeStamp stamp;
        std::shared_ptr<const LiveTissue> tissue;
        std::optional<DeviceId> gpu;
        Volume structure;  // if the CPU reconstructs
        std::optional<Volume> flow;
        DeviceVolume there;  // if a GPU reconstructs
    };
    class Cancelling;

    void work(const std::stop_token& stop);
    QueuedVolume* next();
    void process(QueuedVolume& queued);
    PostprocessingResult process_on_host(QueuedVolume& queued, Progress& progress);
    PostprocessingResult process_on_gpu(QueuedVolume& queued, Progress& progress);
    void show(QueuedVolume& queued, const GpuPostprocessor::Write& write);
    void free_one(State of);
    bool is_idle() const;
    bool is_quiet() const;

    Show show_;
    ResultCallback on_result_;
    TissueLog log_;
    std::shared_ptr<const LiveTissue> tissue_ = std::make_shared<const LiveTissue>();

    mutable std::mutex mutex_;  // guards the members below and the states
    std::condition_variable_any changed_;
    std::array<QueuedVolume, 2> queued_;
    std::uint64_t turns_ = 0;
    std::exception_ptr problem_;

    // Used by the processing thread.
    CpuPostprocessor on_host_;
    std::shared_ptr<const LiveTissue> set_on_host_, set_on_gpu_;
    std::optional<GpuPostprocessor> on_gpu_;
    std::optional<DeviceId> gpu_;
    std::jthread thread_;  // started with the first volume
};

}  // namespace echolux
