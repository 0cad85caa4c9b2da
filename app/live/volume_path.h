// From blocks of spectra to pictures on the graphics device: a reconstructor, a ring of slots and a renderer, put
// together. Where the same GPU does both, voxels are born in the textures that the ray caster samples; otherwise the
// next best way is taken, and said. One thread feeds, one thread draws; neither waits for the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compute/backend.h"
#include "compute/error.h"
#include "engine/live/block_sink.h"
#include "engine/live/plan_maker.h"
#include "engine/live/volume_ring.h"
#include "render/offscreen.h"
#include "render/pictures_under_way.h"

namespace echolux {

struct VolumePathOptions {
    Publishing publishing = Publishing::whole;
    std::size_t slots = pictures_under_way + 2;
    SlotKind first_kind = SlotKind::surface;  // a later one leaves out what comes before it
    Sharer share = echolux::share;
    std::function<void(ReconstructionSpec&)> complete = {};  // what a changed plan leaves open, on a thread of its own
};

// A picture under way on the graphics device, and what it shows.
struct VolumePicture {
    Drawing drawing;
    VolumeStamp stamp;           // of the newest volume in it
    std::int64_t filled_to = 0;  // slices of this volume; above them the one before is seen
    bool is_whole = false;       // all of them
};

// What a picture would show now.
struct ShownVolume {
    VolumeStamp stamp;  // of the newest volume
    bool is_whole = false;
    VolumeGrid grid;
    std::optional<VolumeGrid> flow_grid;
    std::uint64_t generation = 0;  // another one whenever describe() may say something else
    std::uint64_t serial = 0;      // of what is in the slot: another one when it was worked on again
    std::int64_t filled_to = 0;
};

// A picture of a pane that follows its view, and what it shows.
struct FollowedVolume {
    FollowedPicture picture;
    VolumeStamp stamp;
    bool is_whole = false;
};

struct ReadVolume {
    VolumeStamp stamp;
    std::int64_t filled_to = 0;
    VolumeGrid grid;
    std::vector<std::byte> voxels;
    ReconstructionSpec plan;  // in use now
};

// What became of the plans that were asked for, which are counted from 1 on; 0: the one of the beginning, or none.
struct PlanFates {
    std::uint64_t wanted = 0;
    std::uint64_t refused = 0;  // the newest that cannot work; none before it comes to be used any more
    std::uint64_t in_use = 0;
};

// On its way to the host.
struct ComingVolume {
    ReadVolume volume;                               // without voxels
    std::function<std::vector<std::byte>()> voxels;  // waits, on any thread; gone before the path. Throws Error{device}
};

class VolumePath : public BlockSink {
  public:
    // Takes the renderer's ring; the renderer outlives it, and is best chosen beside() the backend. Plans and
    // allocates. Throws Error{bad_setting, out_of_memory, device}.
    VolumePath(const ReconstructionSpec& plan, const BackendChoice& backend, Renderer& renderer,
               const VolumePathOptions& options = {});
    ~VolumePath() override;
    VolumePath(const VolumePath&) = delete;
    VolumePath& operator=(const VolumePath&) = delete;

    const VolumeGrid& grid() const { return grid_; }  // for the thread that feeds
    const std::optional<VolumeGrid>& flow_grid() const { return flow_grid_; }
    SlotKind kind() const;

    // Who reconstructs, how voxels get to whom, and why not better: one line.
    std::string describe() const;

    // ---- the thread that feeds

    // Blocks of a volume come in their order. False: it is dropped, because every slot was in use or a device was lost
    // on the way, or because blocks are missing. A GPU that fails is tried again once, then the CPU takes over, where
    // BackendChoice leaves the choice. Throws what reconstructing throws; the volume is abandoned then. When that was
    // out of an attempt to put the devices together again, everything but statistics() throws Error{device} afterwards.
    bool feed(const Block& block) override;

    bool rework(const Block& block) override;
    void collect() override;

    // Waits until all that was fed is written.
    void finish() override;

    // Settings that change: the new reconstructor is made on a thread of its own. Where voxels keep their size, type
    // and meaning the slots stay, otherwise there is a new ring.
    void change(const ReconstructionSpec& plan) override { maker_.want(plan); }
    bool take_change(Moment moment) override;

    // ---- the thread that draws. All of it throws Error{device} when the display's device is lost; who feeds goes on.

    // Submits a picture of the newest volume and returns; nothing is read back. Nothing: there is no volume yet.
    std::optional<VolumePicture> picture(const View& view);

    // Nothing where follow() gives nothing. Never waits.
    std::optional<ShownVolume> shown();

    // The picture of a pane as Renderer::follow() makes it, a volume being shown as soon as it is there. Nothing: there
    // is no volume, or the slots are just being exchanged; what this returned last stays valid. Never waits.
    std::optional<FollowedVolume> follow(const View& view, double now_s, std::size_t pane);

    // Of what is shown, as the renderer's; nothing also where follow() gives nothing.
    std::optional<Probe> probe(const View& view, std::int64_t x, std::int64_t y);
    std::optional<Histogram> histogram();

    // What views may count from, until the volume takes another shape or the devices are put together again. Waits.
    void set_heights(const HeightMaps& maps);
    bool has_heights() const { return has_heights_; }

    // A kept picture at full quality, finished. Nothing: there is no volume yet.
    std::optional<Image> still(const View& view);

    bool is_finished(const VolumePicture& picture);
    void wait(const VolumePicture& picture);

    // Reads back, counted. The picture: until `pictures_under_way` later ones; the newest volume: from its texture.
    Image read(const VolumePicture& picture);
    std::optional<ReadVolume> read_volume();

    // The same, begun: pictures go on meanwhile.
    std::optional<ComingVolume> begin_reading_volume();
    std::int64_t bytes_read_back() const { return renderer_.bytes_read_back(); }

    // ---- any thread

    // When the display's device is lost: who feeds waits for its pictures no longer.
    void give_up_reading() noexcept;

    // Never waits.
    PlanFates plan_fates() const;

    // Since the devices were last put together.
    RingStatistics statistics() const;

    // Another number whenever pictures can see something new.
    std::uint64_t news() const;

  private:
    void pair_devices();
    void build();
    ChosenReconstructor made_for(ReconstructionSpec& plan) const;
    void install(ChosenReconstructor chosen);
    bool fits(const Reconstructor& coming) const;
    void put_to_use(MadePlan made);
    bool exchange_plan(Moment moment, MadePlan made);
    void require_built() const;
    void begin(const Block& block);
    bool fed(const Block& block);
    bool reworked(const Block& block);
    template <class Feed>
    bool survived(const Feed& feed);
    void submit(const Block& block);
    void publish(std::int64_t end);
    void abandon();
    bool recovers(const Error& error);
    bool is_next(const Block& block) const;

    struct Reading;
    template <class Call>
    auto asked(const Call& call);
    template <class Read>
    auto of_ring(const Read& read);
    template <class Read>
    auto drawn(const Read& read);
    template <class Read>
    auto drawn_at_once(const Read& read);

    ReconstructionSpec plan_;
    BackendChoice backend_;
    VolumePathOptions options_;
    VolumeGrid grid_;
    std::optional<VolumeGrid> flow_grid_;
    Renderer& renderer_;
    bool same_gpu_ = false;
    std::string pairing_;  // why the devices are no pair
    std::string failure_;  // that was survived
    std::string choice_;   // why not a better backend

    mutable std::mutex exchanging_;  // held while pictures are submitted, and while what follows is exchanged
    SlotWriter* slots_ = nullptr;    // nothing: the devices could not be put together again
    std::unique_ptr<VolumeRing> ring_;
    std::string description_;
    std::unique_ptr<Reconstructor> reconstructor_;  // goes first: it writes to the slots
    bool on_gpu_ = false;
    std::atomic<bool> has_heights_ = false;  // on the device
    int failures_ = 0;
    std::atomic<std::uint64_t> plan_refused_ = 0, plan_in_use_ = 0;
    std::uint64_t generation_ = 0;  // of the ring

    // The volume that is being written.
    std::optional<WriteTicket> ticket_;
    VolumeStamp stamp_;
    std::int64_t next_b_scan_ = 0;
    std::int64_t published_to_ = 0;     // slices
    std::deque<Completion> under_way_;  // more of the last ones than a reconstructor works on at a time

    PlanMaker maker_;
};

}  // namespace echolux
