// The sink for those who want volumes in host memory instead of on a screen: files, the library, other programs. Each
// volume that is whole is handed on; the thread that feeds waits for it.
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
#include "engine/gpu_recovery.h"
#include "engine/io/volume_file.h"
#include "engine/live/block_sink.h"
#include "engine/live/plan_maker.h"
#include "engine/live/tissue_work.h"

namespace echolux {

struct HostVolume {
    std::int64_t number = 0;  // as the source counts
    double time_s = 0;        // of its first line, by the source's clock
    Volume structure;         // its provenance tells what was done to it since it was reconstructed
    std::optional<Volume> flow;
    std::shared_ptr<const ReconstructionSpec> spec;  // that it was made with
    std::uint64_t plan = 0;                          // number of the settings that it was begun with, as in VolumeStamp
    std::string backend;
};

// Both are called by the thread that feeds.
struct VolumeReceiver {
    std::function<bool()> has_room;  // for a volume that begins; it may wait. False: that one is left out
    std::function<void(HostVolume)> take;
};

class HostVolumes : public BlockSink {
  public:
    // A noise floor that a recipe leaves open is measured from the first block that comes then, which lies in host
    // memory: the plan is made with it. Throws Error{bad_setting, out_of_memory, device}.
    HostVolumes(const ReconstructionSpec& spec, const BackendChoice& backend, VolumeReceiver receiver);
    ~HostVolumes() override;

    // Who reconstructs, and why not a GPU. From any thread.
    std::string describe() const;

    // One of several GPUs that fails is left out. A GPU that fails is set up anew once, then the CPU takes over, where
    // BackendChoice leaves the choice; the volume is dropped then.
    bool feed(const Block& block) override;
    bool rework(const Block&) override { return false; }  // nothing of what was handed on can be written again
    void collect() override;
    void finish() override;
    void change(const ReconstructionSpec& spec) override { maker_.want(spec); }
    bool take_change(Moment moment) override;

    // What is done to volumes before they are handed on, from the next one on. From any thread. Throws
    // Error{bad_setting}.
    void set_tissue(const LiveTissue& tissue);
    const TissueLog& tissue_log() const { return tissue_log_; }
    std::vector<News> take_news() override { return tissue_log_.take_news(); }

  private:
    void install(const ReconstructionSpec& spec, ChosenReconstructor chosen);
    void note_description();
    void begin(const Block& block);
    bool try_feed(const Block& block);
    void abandon();
    bool recovers(const Error& problem);
    Places places();
    void hand_on(HostVolume made);

    BackendChoice backend() const;

    VolumeReceiver receiver_;
    std::shared_ptr<const ReconstructionSpec> spec_;
    std::uint64_t plan_ = 0;      // counts changes, of the spec and of what is done to volumes
    ChosenReconstructor chosen_;  // nothing: the noise floor is not known yet
    mutable std::mutex mutex_;    // of the next two, and of the tissue that is wanted
    GpuRecovery recovery_;
    std::string description_;

    std::optional<HostVolume> coming_;
    std::int64_t next_b_scan_ = 0;
    std::deque<Completion> under_way_;
    std::optional<LiveTissue> wanted_tissue_;  // under the mutex
    TissueWork tissue_;
    TissueLog tissue_log_;
    PlanMaker maker_;
};

}  // namespace echolux
