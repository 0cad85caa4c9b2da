// Feeds a live ring: reconstructs blocks of spectra into its slots. If one GPU reconstructs and draws, voxels are
// written directly to the textures that the ray caster samples. Otherwise the best available transfer path is used and
// reported.
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
#include "engine/live/display_queue.h"
#include "engine/planning.h"

namespace echolux {

struct VolumePathOptions {
    Publishing publishing = Publishing::whole;
    std::size_t slots = pictures_under_way + 2;
    std::int64_t keep_bytes = 0;              // additional memory for recent volumes
    SlotKind first_kind = SlotKind::surface;  // best kind to try; a later one skips those before it
    Sharer share = echolux::share;
    std::function<ChosenReconstructor(const ReconstructionSpec&, const BackendChoice&)> reconstructor =
        choose_reconstructor;
    std::function<void(ReconstructionSpec&)> complete = {};  // completes a changed plan, on its own thread
    LiveTissue tissue = {};                                  // processing of volumes before they are shown
    TissueStage::Hear tissue_done = {};                      // called after each of them on its own thread
};

// Status of requested plans, which are numbered from 1; 0: the initial plan, or none.
struct PlanFates {
    std::uint64_t wanted = 0;
    std::uint64_t refused = 0;  // newest invalid plan; none before it will become active
    std::uint64_t in_use = 0;
};

class VolumeFeeder : public BlockSink {
  public:
    // Creates the slots of `ring` on its renderer. The ring must outlive this object. Plans and allocates. Throws
    // Error{bad_setting, out_of_memory, device}.
    VolumeFeeder(LiveRing& ring, const ReconstructionSpec& plan, const BackendChoice& backend,
                 const VolumePathOptions& options);
    ~VolumeFeeder() override;
    VolumeFeeder(const VolumeFeeder&) = delete;
    VolumeFeeder& operator=(const VolumeFeeder&) = delete;

    // ---- feeding thread

    const VolumeGrid& grid() const { return live_.grid; }
    const std::optional<VolumeGrid>& flow_grid() const { return live_.flow_grid; }

    // Reconstructs one block. Blocks of a volume must arrive in order. Returns false if the volume is dropped: all
    // slots were in use, a device was lost, or blocks are missing. One failing GPU of several is excluded. A single GPU
    // is retried once; then the CPU takes over if BackendChoice allows it. Throws what reconstructing throws, and the
    // volume is abandoned. If restoring the devices failed, all functions except statistics() throw Error{device}
    // afterwards.
    bool feed(const Block& block) override;

    bool rework(const Block& block) override;
    void collect() override;

    // Waits until everything fed has been written. Processing before display may take longer.
    void finish() override;

    // Changes settings. The new reconstructor is created on a separate thread. The slots are kept if size, type and
    // meaning of voxels stay the same; otherwise a new ring is made.
    void change(const ReconstructionSpec& plan) override { maker_.want(plan); }
    bool take_change(Moment moment) override;

    // ---- any thread

    // Sets the processing of volumes before they are shown, effective with the next volume. If no volume arrives, the
    // last one is processed again. Throws Error{bad_setting}.
    void set_tissue(const LiveTissue& tissue);
    const TissueLog& tissue_log() const { return stage_.log(); }
    std::vector<News> take_news() override;
    // Waits until everything reconstructed is shown. After `patience` the rest is discarded.
    void finish_tissue(std::chrono::milliseconds patience) {
        if (!stage_.finish(patience)) stage_.cancel();
    }

    SlotKind kind() const;

    // One line: the reconstructing device, the transfer path, and why no better one is used.
    std::string describe() const;

    // Work of each device since this reconstructor became active, up to the last complete volume. Never waits.
    std::vector<DeviceWork> device_work() const;

    // Never waits.
    PlanFates plan_fates() const;
    bool has_change_ready() const { return maker_.has_made(); }  // a plan is ready for take_change()

    // Counted since the devices were last set up.
    RingStatistics statistics() const;

  private:
    // The reconstructing GPUs, and whether they can write textures of the drawing GPU.
    struct Pairing {
        BackendChoice backend;
        bool shares = false;
        std::string remark = {};  // why they cannot
    };

    static Pairing paired_with(const Renderer& renderer, BackendChoice backend);
    static std::string remark_on(const std::vector<DeviceId>& gpus, const Renderer& renderer);
    void build();
    ChosenReconstructor make_reconstructor_for(ReconstructionSpec& plan) const;
    void install(ChosenReconstructor chosen);
    bool fits(const Reconstructor& coming) const;
    struct SlotsMade {
        LiveSlots slots;
        std::string why_none_kept = {};  // why no slots for recent volumes could be allocated
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
    GpuRecovery recovery_;   // replaced together with the ring
    std::string choice_;     // why no better backend is used
    std::string described_;  // live_.description without excluded devices
    std::unique_ptr<Reconstructor> reconstructor_;
    std::atomic<std::uint64_t> plan_refused_ = 0, plan_in_use_ = 0;

    // State of the volume being written.
    std::optional<WriteTicket> ticket_;
    std::optional<Places> staged_;     // set if it goes to the processing stage first
    std::int64_t staged_volume_ = -1;  // last volume sent there
    VolumeStamp stamp_;
    std::int64_t next_b_scan_ = 0;
    std::int64_t published_to_ = 0;     // slices
    std::deque<Completion> under_way_;  // more than a reconstructor has in flight

    mutable std::mutex told_;  // guards the next two members
    std::vector<DeviceWork> device_work_;
    std::vector<News> news_;

    std::mutex wanting_;  // guards the next member
    std::optional<LiveTissue> wanted_tissue_;
    TissueStage stage_;
    PlanMaker maker_;
};

}  // namespace echolux
