// Who draws what is in a live ring: pictures of the newest volume, what is seen in them, and the volume itself on its
// way to the host.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/live/live_ring.h"

namespace echolux {

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
    bool is_paused = false;        // it is one that is kept
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

// The last volumes, oldest first, at one moment.
struct KeptVolumes {
    std::vector<KeptVolume> volumes;
    std::int64_t max_volumes = 0;        // that can be kept; 0: none ever are
    std::optional<std::uint64_t> shown;  // serial of the one that pictures stand at; nothing: they show the newest
    VolumeGrid grid;                     // of each
};

// On its way to the host.
struct ComingVolume {
    ReadVolume volume;                               // without voxels
    std::function<std::vector<std::byte>()> voxels;  // waits, on any thread; gone before the path. Throws Error{device}
};

// For the thread that draws, where nothing else is said. All of it throws Error{device} when the display's device is
// lost; who feeds goes on.
class VolumePictures {
  public:
    explicit VolumePictures(LiveRing& ring) : live_(ring) {}  // outlives this

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
    std::optional<PlaneHistogram> plane_histogram(const View& view);

    // What the colours of flow mean. Nothing: there is none, or the slots are just being exchanged.
    std::optional<FlowScale> flow_scale(const View& view);
    bool looks_at_flow() const { return live_.renderer.looks_at_flow(); }

    // What views may count from, until the volume takes another shape or the devices are put together again. Waits.
    void set_heights(const HeightMaps& maps);
    bool has_heights() const { return live_.has_heights; }

    // A kept picture at full quality, finished. Nothing: there is no volume yet.
    std::optional<Image> still(const View& view);

    bool is_finished(const VolumePicture& picture);
    void wait(const VolumePicture& picture);

    // Reads back, counted. The picture: until `pictures_under_way` later ones; the newest volume: from its texture.
    Image read(const VolumePicture& picture);
    std::optional<ReadVolume> read_volume();

    // The same, begun: pictures go on meanwhile.
    std::optional<ComingVolume> begin_reading_volume();
    std::int64_t bytes_read_back() const { return live_.renderer.bytes_read_back(); }

    // Pictures, and all that is asked of the volume that is shown, stand at one that is kept. All of these are held
    // meanwhile, while newer ones come and go. False: it is not kept any more, and all is as it was.
    bool pause_at(std::uint64_t serial);
    void resume();

    // Keeps them as they are for as long as what is returned lives; nullptr: the slots are not there.
    std::shared_ptr<const KeptHold> hold_kept();
    // Of those, begun as above. Nothing: it is just being written again. Throws Error{output}: the slots have been
    // exchanged since, so that it is gone.
    std::optional<ComingVolume> begin_reading_kept(const KeptHold& hold, std::uint64_t serial);

    // ---- any thread

    // When the display's device is lost: who feeds waits for its pictures no longer.
    void give_up_reading() noexcept;

    // Another number whenever pictures can see something new.
    std::uint64_t news() const;

    KeptVolumes kept() const;
    PlanInUse plan_in_use() const;

  private:
    struct Reading;
    template <class Call>
    auto with_release(const Call& call);
    bool has_flow() const;
    void look_at_flow();
    template <class Read>
    auto with_ticket(std::optional<std::uint64_t> serial, const Read& read);
    std::optional<std::uint64_t> paused_at() const;
    ComingVolume coming_of(Reading& reading);
    template <class Read>
    auto read_ring(const Read& read);
    template <class Read>
    auto try_read_ring(const Read& read);

    LiveRing& live_;
};

}  // namespace echolux
