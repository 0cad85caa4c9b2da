// Sink that delivers volumes in host memory: for files, the library and other programs. Each complete volume is passed
// to the receiver while the feeding thread waits.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "compute/backend.h"
#include "compute/error.h"
#include "engine/io/volume_file.h"
#include "engine/live/display_queue.h"
#include "engine/live/postprocessing.h"
#include "engine/planning.h"

namespace echolux {

struct HostVolume {
    std::int64_t number = 0;  // as counted by the source
    double time_s = 0;        // time of the first line by the source's clock
    Volume structure;         // provenance lists the processing after reconstruction
    std::optional<Volume> flow;
    std::shared_ptr<const ReconstructionSpec> spec;  // used for reconstruction
    std::uint64_t plan = 0;                          // number of the settings at its start, as in VolumeStamp
    std::string backend;
};

// Both functions are called by the feeding thread.
struct VolumeReceiver {
    // Asked when a volume begins; may block. If false, the volume is dropped.
    std::function<bool()> has_room;
    std::function<void(HostVolume)> take;
};

class HostVolumes : public BlockSink {
  public:
    // Measures a noise floor that the recipe leaves open from the first block, which must be in host memory, and plans
    // with it. Throws Error{bad_setting, out_of_memory, device}.
    HostVolumes(const ReconstructionSpec& spec, const BackendChoice& backend, VolumeReceiver receiver);
    ~HostVolumes() override;

    // Returns the backend and why it is not a GPU. Callable from any thread.
    std::string describe() const;

    // Feeds the block. If one of several GPUs fails, it is excluded. If the only GPU fails, it is reinitialized once;
    // after that the CPU takes over, unless BackendChoice forbids this. The volume is dropped in these cases.
    bool feed(const Block& block) override;
    bool reprocess(const Block&) override { return false; }  // delivered volumes cannot be rewritten
    void collect() override;
    void finish() override;
    void change(const ReconstructionSpec& spec) override { maker_.want(spec); }
    bool take_change(SwapPoint swap_point) override;
    bool has_change_ready() const { return maker_.has_made(); }  // a plan is ready for take_change()

    // Sets the processing of volumes before delivery, from the next volume on. Callable from any thread. Throws
    // Error{bad_setting}.
    void set_tissue(const LiveTissue& tissue);
    const TissueLog& tissue_log() const { return tissue_log_; }
    std::vector<SinkMessage> take_messages() override { return tissue_log_.take_messages(); }

  private:
    void install(const ReconstructionSpec& spec, ChosenReconstructor chosen);
    void note_description();
    void begin(const Block& block);
    void abandon();
    bool recovers(const Error& problem);
    VoxelTargets targets();
    void hand_on(HostVolume made);

    BackendChoice backend() const;

    VolumeReceiver receiver_;
    std::shared_ptr<const ReconstructionSpec> spec_;
    std::uint64_t plan_ = 0;      // counts changes of the spec and of the processing
    ChosenReconstructor chosen_;  // empty until the noise floor is known
    mutable std::mutex mutex_;    // guards the next two members and wanted_tissue_
    GpuRecovery recovery_;
    std::string description_;

    std::optional<HostVolume> coming_;
    std::int64_t next_b_scan_ = 0;
    std::deque<Completion> in_flight_;
    std::optional<LiveTissue> wanted_tissue_;  // guarded by mutex_
    CpuPostprocessor tissue_;
    TissueLog tissue_log_;
    PlanMaker maker_;
};

}  // namespace echolux
