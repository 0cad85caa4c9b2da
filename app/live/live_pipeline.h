// Path from blocks of spectra to pictures: the live ring of a renderer, the feeder that fills it, and the pictures
// drawn from it. One thread feeds, one thread draws, and neither waits for the other.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/live/live_postprocessor.h"
#include "compute/backend.h"
#include "compute/plan/params.h"
#include "compute/types.h"
#include "engine/live/display_queue.h"
#include "engine/live/volume_ring.h"
#include "engine/planning.h"
#include "render/gpu_device.h"
#include "render/renderer.h"
#include "render/slots/live_slots.h"

namespace echolux {

// ---- Ring, shared by the feeding thread and the drawing thread.

// Keeps the recent volumes of a ring unchanged for its lifetime, even if the ring is replaced.
class RecentHold {
  public:
    explicit RecentHold(std::shared_ptr<VolumeRing> ring) : ring_(std::move(ring)) { ring_->hold(); }
    ~RecentHold() { ring_->release(); }
    RecentHold(const RecentHold&) = delete;
    RecentHold& operator=(const RecentHold&) = delete;

    bool is_of(const std::shared_ptr<VolumeRing>& ring) const { return ring_ == ring; }

  private:
    std::shared_ptr<VolumeRing> ring_;
};

// Pictures show a kept volume.
struct Pause {
    std::shared_ptr<const RecentHold> hold;
    std::uint64_t serial = 0;  // of the volume
};

// Settings that volumes are currently reconstructed with.
struct PlanInUse {
    ReconstructionSpec spec;
    std::uint64_t number = 0;  // same numbering as VolumeStamp::plan
};

struct LiveRing {
    explicit LiveRing(Renderer& of) : renderer(of) {}

    // For the feeding thread, or with `exchanging` held. Throws Error{device} if there are no slots.
    void require_built() const;

    Renderer& renderer;
    std::atomic<bool> has_heights = false;  // height maps are on the device

    // Held while pictures are submitted, and by the feeding thread while it replaces the members below.
    mutable std::mutex exchanging;
    std::optional<LiveSlots> slots;  // std::nullopt: the devices could not be restored
    std::shared_ptr<VolumeRing> ring;
    std::optional<Pause> pause;    // std::nullopt: pictures show the newest volume
    std::uint64_t generation = 0;  // of the ring
    VolumeGrid grid;
    std::optional<VolumeGrid> flow_grid;
    PlanInUse plan;
    std::string description;  // reconstructing device, transfer path, and why no better path is used
    std::string failure;      // error that was recovered from
};

// Returns one line: how many volumes `slots` can keep in `keep_bytes`, or why none. `why_none` is the error if
// allocating memory for them failed.
std::string recent_line(const LiveSlots& slots, std::int64_t keep_bytes, const std::string& why_none);

// ---- Feeder: reconstructs blocks of spectra into the slots of the ring. If one GPU reconstructs and draws, voxels are
// written directly to the textures that the ray caster samples. Otherwise the best available transfer path is used and
// reported.

struct LivePipelineOptions {
    Publishing publishing = Publishing::whole;
    std::size_t slots = pictures_in_flight + 2;
    std::int64_t keep_bytes = 0;              // additional memory for recent volumes
    SlotKind first_kind = SlotKind::surface;  // best kind to try; a later one skips those before it
    Sharer share = echolux::share;
    std::function<ChosenReconstructor(const ReconstructionSpec&, const BackendChoice&)> reconstructor =
        choose_reconstructor;
    std::function<void(ReconstructionSpec&)> complete = {};  // completes a changed plan, on its own thread
    LiveTissue tissue = {};                                  // processing of volumes before they are shown
    LivePostprocessor::ResultCallback postprocessed = {};    // called after each of them on its own thread
};

// Status of requested plans, which are numbered from 1; 0: the initial plan, or none.
struct PlanStatus {
    std::uint64_t wanted = 0;
    std::uint64_t refused = 0;  // newest invalid plan; none before it will become active
    std::uint64_t in_use = 0;
};

class LiveFeeder : public BlockSink {
  public:
    // Creates the slots of `ring` on its renderer. The ring must outlive this object. Plans and allocates. Throws
    // Error{bad_setting, out_of_memory, device}.
    LiveFeeder(LiveRing& ring, const ReconstructionSpec& plan, const BackendChoice& backend,
               const LivePipelineOptions& options);
    ~LiveFeeder() override;
    LiveFeeder(const LiveFeeder&) = delete;
    LiveFeeder& operator=(const LiveFeeder&) = delete;

    // ---- feeding thread

    const VolumeGrid& grid() const { return live_.grid; }
    const std::optional<VolumeGrid>& flow_grid() const { return live_.flow_grid; }

    // Reconstructs one block. Blocks of a volume must arrive in order. Returns false if the volume is dropped: all
    // slots were in use, a device was lost, or blocks are missing. One failing GPU of several is excluded. A single GPU
    // is retried once; then the CPU takes over if BackendChoice allows it. Throws what reconstructing throws, and the
    // volume is abandoned. If restoring the devices failed, all functions except statistics() throw Error{device}
    // afterwards.
    bool feed(const Block& block) override;

    bool reprocess(const Block& block) override;
    void collect() override;

    // Waits until everything fed has been written. Processing before display may take longer.
    void finish() override;

    // Changes settings. The new reconstructor is created on a separate thread. The slots are kept if size, type and
    // meaning of voxels stay the same; otherwise a new ring is made.
    void change(const ReconstructionSpec& plan) override { maker_.want(plan); }
    bool take_change(SwapPoint swap_point) override;

    // ---- any thread

    // Sets the processing of volumes before they are shown, effective with the next volume. If no volume arrives, the
    // last one is processed again. Throws Error{bad_setting}.
    void set_tissue(const LiveTissue& tissue);
    const TissueLog& tissue_log() const { return postprocessor_.log(); }
    std::vector<SinkMessage> take_messages() override;
    // Waits until everything reconstructed is shown. After `timeout` the rest is discarded.
    void finish_tissue(std::chrono::milliseconds timeout) {
        if (!postprocessor_.finish(timeout)) postprocessor_.cancel();
    }

    SlotKind kind() const;

    // One line: the reconstructing device, the transfer path, and why no better one is used.
    std::string describe() const;

    // Work of each device since this reconstructor became active, up to the last complete volume. Never waits.
    std::vector<DeviceWork> device_work() const;

    // Never waits.
    PlanStatus plan_status() const;
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
    void rehearse();
    ChosenReconstructor make_reconstructor_for(ReconstructionSpec& plan) const;
    void install(ChosenReconstructor chosen);
    bool fits(const Reconstructor& coming) const;
    struct CreatedSlots {
        LiveSlots slots;
        std::string why_none_recent = {};  // why no slots for recent volumes could be allocated
    };
    CreatedSlots slots_for(const Reconstructor& coming, const ReconstructionSpec& plan);
    void report_recent(const std::string& why_none, bool had_some);
    void activate(PreparedPlan made);
    bool exchange_plan(SwapPoint swap_point, PreparedPlan made);
    bool recover();
    bool recovers(const Error& error);
    bool replaces_reconstructor(const Error& error);
    void note_device_work();
    void hand_over(const Block& block);
    void begin(const Block& block);
    bool is_next(const Block& block) const;
    void submit(const Block& block);
    void publish(std::int64_t first, std::int64_t end);
    void abandon();
    void wait_for_blocks();
    bool take_tissue();
    bool begin_staged(const Block& block);
    VoxelTargets targets() const;
    void show(const VolumeStamp& stamp, const GpuPostprocessor::Write& write);

    LiveRing& live_;
    LivePipelineOptions options_;
    Pairing pairing_;
    GpuRecovery recovery_;   // replaced together with the ring
    std::string choice_;     // why no better backend is used
    std::string described_;  // live_.description without excluded devices
    std::unique_ptr<Reconstructor> reconstructor_;
    std::atomic<std::uint64_t> plan_refused_ = 0, plan_in_use_ = 0;

    // State of the volume being written.
    std::optional<WriteTicket> ticket_;
    std::optional<VoxelTargets> staged_;  // set if it goes to the processing stage first
    std::int64_t staged_volume_ = -1;     // last volume sent there
    VolumeStamp stamp_;
    std::int64_t next_b_scan_ = 0;
    std::int64_t published_to_ = 0;      // slices
    std::vector<std::uint8_t> invalid_;  // flags of the newest block (compute/invalid_lines.h)
    std::deque<Completion> in_flight_;   // more than a reconstructor has in flight

    mutable std::mutex report_mutex_;  // guards the next two members
    std::vector<DeviceWork> device_work_;
    std::vector<SinkMessage> news_;

    std::mutex wanting_;  // guards the next member
    std::optional<LiveTissue> wanted_tissue_;
    LivePostprocessor postprocessor_;
    PlanMaker maker_;
};

// ---- Display: pictures of the newest volume, queries on what they show, and copies of volumes to the host.

// A picture in flight on the graphics device, and its content.
struct LivePicture {
    Drawing drawing;
    VolumeStamp stamp;           // of the newest volume shown
    std::int64_t filled_to = 0;  // slices of this volume; above them the previous one is shown
    bool is_whole = false;       // all slices are of this volume
};

// State of the volume that a picture would show now.
struct DisplayState {
    VolumeStamp stamp;  // of the newest volume
    bool is_whole = false;
    VolumeGrid grid;
    std::optional<VolumeGrid> flow_grid;
    std::uint64_t generation = 0;  // changes when describe() may return a different text
    bool is_paused = false;        // a kept volume is shown
    std::uint64_t serial = 0;      // of the data in the slot; changes when it is reconstructed again
    std::int64_t filled_to = 0;
};

// Picture of a pane that follows its view, and its content.
struct PaneContent {
    PanePicture picture;
    VolumeStamp stamp;
    bool is_whole = false;
};

struct ReadVolume {
    VolumeStamp stamp;
    std::int64_t filled_to = 0;
    VolumeGrid grid;
    std::vector<std::byte> voxels;
    ReconstructionSpec plan;  // the plan in use
};

// The recent volumes, oldest first, at one moment.
struct RecentVolumes {
    std::vector<RecentVolume> volumes;
    std::int64_t max_volumes = 0;        // capacity; 0: none are kept
    std::optional<std::uint64_t> shown;  // serial of the paused volume; std::nullopt: the newest is shown
    VolumeGrid grid;                     // of each volume
};

// A volume being copied to the host. `voxels` throws Error{device}.
struct VolumeDownload {
    ReadVolume volume;                               // without voxels
    std::function<std::vector<std::byte>()> voxels;  // waits, on any thread; destroy before the path
};

// For the drawing thread, unless stated otherwise. All functions throw Error{device} if the display's device is lost;
// feeding continues.
class LiveDisplay {
  public:
    explicit LiveDisplay(LiveRing& ring) : live_(ring) {}  // `ring` must outlive this object

    // Submits a picture of the newest volume and returns without reading it back. std::nullopt before the first volume.
    std::optional<LivePicture> picture(const View& view);

    // std::nullopt in the same cases as follow(). Never waits.
    std::optional<DisplayState> shown();

    // Returns the picture of a pane, drawn by Renderer::follow(); new volumes are shown at once. std::nullopt before
    // the first volume, or while slots are being replaced: keep using the previous result. Never waits.
    std::optional<PaneContent> follow(const View& view, double now_s, std::size_t pane);

    // Query the volume shown, like the functions of the renderer. std::nullopt also in the cases of follow().
    std::optional<Probe> probe(const View& view, std::int64_t x, std::int64_t y);
    std::optional<Histogram> histogram();
    std::optional<PlaneHistogram> plane_histogram(const View& view);

    // Returns the scale of flow colours. std::nullopt without flow, or while slots are being replaced.
    std::optional<FlowScale> flow_scale(const View& view);

    // Sets the height maps that views may refer to. They are lost when the volume changes shape or the devices are
    // restored. Waits.
    void set_heights(const HeightMaps& maps);
    bool has_heights() const { return live_.has_heights; }

    // Renders a finished picture at full quality. std::nullopt before the first volume.
    std::optional<Image> still(const View& view);

    bool is_finished(const LivePicture& picture);
    void wait(const LivePicture& picture);

    // Read back to the host, and count the bytes. A picture can be read until `pictures_in_flight` later ones exist.
    // The newest volume is read from its texture.
    Image read(const LivePicture& picture);
    std::optional<ReadVolume> read_volume();

    // Starts reading the newest volume while pictures continue.
    std::optional<VolumeDownload> begin_reading_volume();
    std::int64_t bytes_read_back() const { return live_.renderer.bytes_read_back(); }

    // Shows a kept volume in pictures and queries until resume(). All kept volumes are held while newer ones pass
    // through the ring. Returns false, and changes nothing, if the volume is no longer kept.
    bool pause_at(std::uint64_t serial);
    void resume();

    // Keeps the recent volumes unchanged for the lifetime of the result; nullptr without slots.
    std::shared_ptr<const RecentHold> hold_recent();
    // Starts reading one of them. std::nullopt while it is being rewritten. Throws Error{output} if it is gone because
    // the slots were replaced.
    std::optional<VolumeDownload> begin_reading_recent(const RecentHold& hold, std::uint64_t serial);

    // ---- any thread

    // Call if the display's device is lost: the feeder no longer waits for its pictures.
    void abandon_reading() noexcept;

    // Changes whenever a picture could show something new.
    std::uint64_t news() const;

    RecentVolumes kept() const;
    PlanInUse plan_in_use() const;

  private:
    struct Reading;
    void release_after(const std::exception& problem) noexcept;
    bool has_flow() const;
    void look_at_flow();
    std::unique_lock<std::mutex> waiting() const;
    std::unique_lock<std::mutex> at_once() const;
    template <class Read>
    auto read_slots(std::unique_lock<std::mutex> lock, const Read& read, std::optional<std::uint64_t> serial = {});
    std::optional<std::uint64_t> paused_at() const;
    VolumeDownload coming_of(Reading& reading);

    LiveRing& live_;
};

// Returns `device` with a preference for the GPU that `backend` will use, unless it already has a preference. Voxels
// are then written directly to the textures that are drawn.
GpuDevice beside(GpuDevice device, const BackendChoice& backend);

// ---- Pipeline: a ring with the feeder that fills it and the display that draws it.

class LivePipeline {
    std::optional<Renderer> own_;
    LiveRing ring_;

  public:
    // Uses the renderer's ring. The renderer must outlive this object, and should be chosen with beside(). Throws what
    // LiveFeeder throws.
    LivePipeline(const ReconstructionSpec& plan, const BackendChoice& backend, Renderer& renderer,
                 const LivePipelineOptions& options = {})
        : ring_(renderer), feeder(ring_, plan, backend, options), display(ring_) {}

    // Owns its renderer, for live sessions without a window, benchmarks and tests. Chooses a pair of devices. Throws
    // Error{bad_setting, out_of_memory, device}.
    LivePipeline(const ReconstructionSpec& plan, const BackendChoice& backend, const GpuDevice& device,
                 const LivePipelineOptions& options = {})
        : own_(std::in_place, beside(device, backend)), ring_(*own_), feeder(ring_, plan, backend, options),
          display(ring_) {}

    // Otherwise a GPU could wait forever for pictures of a lost device.
    ~LivePipeline() { display.abandon_reading(); }

    bool is_software() const { return ring_.renderer.is_software(); }

    LiveFeeder feeder;
    LiveDisplay display;
};

}  // namespace echolux
