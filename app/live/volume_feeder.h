// Who feeds a live ring: reconstructs blocks of spectra into its slots. Where the same GPU reconstructs and draws,
// voxels are born in the textures that the ray caster samples; otherwise the next best way is taken, and said.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/live/live_ring.h"
#include "app/live/tissue_stage.h"
#include "compute/backend.h"
#include "engine/gpu_recovery.h"
#include "engine/live/block_sink.h"
#include "engine/live/plan_maker.h"

namespace echolux {

struct VolumePathOptions {
    Publishing publishing = Publishing::whole;
    std::size_t slots = pictures_under_way + 2;
    std::int64_t keep_bytes = 0;              // of memory besides, for the last volumes
    SlotKind first_kind = SlotKind::surface;  // a later one leaves out what comes before it
    Sharer share = echolux::share;
    std::function<ChosenReconstructor(const ReconstructionSpec&, const BackendChoice&)> reconstructor =
        choose_reconstructor;
    std::function<void(ReconstructionSpec&)> complete = {};  // what a changed plan leaves open, on a thread of its own
    LiveTissue tissue = {};                                  // what is done to volumes before they are shown
    TissueStage::Hear tissue_done = {};                      // on a thread of its own, after each of them
};

// What became of the plans that were asked for, which are counted from 1 on; 0: the one of the beginning, or none.
struct PlanFates {
    std::uint64_t wanted = 0;
    std::uint64_t refused = 0;  // the newest that cannot work; none before it comes to be used any more
    std::uint64_t in_use = 0;
};

class VolumeFeeder : public BlockSink {
  public:
    // Makes the slots of `ring`, which outlives this, on its renderer. Plans and allocates. Throws Error{bad_setting,
    // out_of_memory, device}.
    VolumeFeeder(LiveRing& ring, const ReconstructionSpec& plan, const BackendChoice& backend,
                 const VolumePathOptions& options);
    ~VolumeFeeder() override;
    VolumeFeeder(const VolumeFeeder&) = delete;
    VolumeFeeder& operator=(const VolumeFeeder&) = delete;

    // ---- the thread that feeds

    const VolumeGrid& grid() const { return live_.grid; }
    const std::optional<VolumeGrid>& flow_grid() const { return live_.flow_grid; }

    // Blocks of a volume come in their order. False: it is dropped, because every slot was in use or a device was lost
    // on the way, or because blocks are missing. One of several GPUs that fails is left out; a single one is tried
    // again once, then the CPU takes over, where BackendChoice leaves the choice. Throws what reconstructing throws;
    // the volume is abandoned then. When that was out of an attempt to put the devices together again, everything but
    // statistics() throws Error{device} afterwards.
    bool feed(const Block& block) override;

    bool rework(const Block& block) override;
    void collect() override;

    // Waits until all that was fed is written; what is worked on before it is shown comes later.
    void finish() override;

    // Settings that change: the new reconstructor is made on a thread of its own. Where voxels keep their size, type
    // and meaning the slots stay, otherwise there is a new ring.
    void change(const ReconstructionSpec& plan) override { maker_.want(plan); }
    bool take_change(Moment moment) override;

    // ---- any thread

    // What is done to volumes before they are shown, from the next one on; at rest the last one is worked on again.
    // Throws Error{bad_setting}.
    void set_tissue(const LiveTissue& tissue);
    const TissueLog& tissue_log() const { return stage_.log(); }
    std::vector<News> take_news() override;
    // What was reconstructed is shown when it returns, or given up.
    void finish_tissue(std::chrono::milliseconds patience) {
        if (!stage_.finish(patience)) stage_.cancel();
    }

    SlotKind kind() const;

    // Who reconstructs, how voxels get to whom, and why not better: one line.
    std::string describe() const;

    // What each device has done since this reconstructor came to be used, as of the last whole volume. Never waits.
    std::vector<DeviceWork> device_work() const;

    // Never waits.
    PlanFates plan_fates() const;
    bool has_change_ready() const { return maker_.has_made(); }  // to be taken

    // Since the devices were last put together.
    RingStatistics statistics() const;

  private:
    // Which GPUs reconstruct, and whether textures of the one that draws can be written by them.
    struct Pairing {
        BackendChoice backend;
        bool shares = false;
        std::string remark = {};  // why not at once
    };

    static Pairing paired_with(const Renderer& renderer, BackendChoice backend);
    static std::string remark_on(const std::vector<DeviceId>& gpus, const Renderer& renderer);
    void build();
    ChosenReconstructor make_reconstructor_for(ReconstructionSpec& plan) const;
    void install(ChosenReconstructor chosen);
    bool fits(const Reconstructor& coming) const;
    struct SlotsMade {
        LiveSlots slots;
        std::string why_none_kept = {};  // where those that keep volumes could not be made
    };
    SlotsMade slots_for(const Reconstructor& coming, const ReconstructionSpec& plan);
    void tell_kept(const std::string& why_none, bool had_some);
    void put_to_use(MadePlan made);
    bool exchange_plan(Moment moment, MadePlan made);
    template <class Work>
    bool with_recovery(const Work& work);
    bool recovers(const Error& error);
    bool goes_on_without_one(const Error& error);
    void note_device_work();
    bool try_feed(const Block& block);
    bool try_rework(const Block& block);
    void begin(const Block& block);
    bool is_next(const Block& block) const;
    void submit(const Block& block);
    void publish(std::int64_t first, std::int64_t end);
    void abandon();
    void wait_for_blocks();
    bool take_tissue();
    bool begin_staged(const Block& block);
    Places places() const;
    void show(const VolumeStamp& stamp, const TissueOnGpu::Write& write);

    LiveRing& live_;
    VolumePathOptions options_;
    Pairing pairing_;
    GpuRecovery recovery_;   // exchanged with what is in the ring
    std::string choice_;     // why not a better backend
    std::string described_;  // live_.description, but for devices that are left out
    std::unique_ptr<Reconstructor> reconstructor_;
    std::atomic<std::uint64_t> plan_refused_ = 0, plan_in_use_ = 0;

    // The volume that is being written.
    std::optional<WriteTicket> ticket_;
    std::optional<Places> staged_;     // it goes to the stage first
    std::int64_t staged_volume_ = -1;  // that went there last
    VolumeStamp stamp_;
    std::int64_t next_b_scan_ = 0;
    std::int64_t published_to_ = 0;     // slices
    std::deque<Completion> under_way_;  // more of the last ones than a reconstructor works on at a time

    mutable std::mutex told_;  // of the next two
    std::vector<DeviceWork> device_work_;
    std::vector<News> news_;

    std::mutex wanting_;  // of the next one
    std::optional<LiveTissue> wanted_tissue_;
    TissueStage stage_;
    PlanMaker maker_;
};

}  // namespace echolux
