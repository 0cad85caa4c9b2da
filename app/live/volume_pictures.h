// Draws a live ring: pictures of the newest volume, queries on what they show, and copies of volumes to the host.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/live/live_ring.h"

namespace echolux {

// A picture in flight on the graphics device, and its content.
struct VolumePicture {
    Drawing drawing;
    VolumeStamp stamp;           // of the newest volume shown
    std::int64_t filled_to = 0;  // slices of this volume; above them the previous one is shown
    bool is_whole = false;       // all slices are of this volume
};

// State of the volume that a picture would show now.
struct ShownVolume {
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
    ReconstructionSpec plan;  // the plan in use
};

// The recent volumes, oldest first, at one moment.
struct KeptVolumes {
    std::vector<KeptVolume> volumes;
    std::int64_t max_volumes = 0;        // capacity; 0: none are kept
    std::optional<std::uint64_t> shown;  // serial of the paused volume; std::nullopt: the newest is shown
    VolumeGrid grid;                     // of each volume
};

// A volume being copied to the host. `voxels` throws Error{device}.
struct ComingVolume {
    ReadVolume volume;                               // without voxels
    std::function<std::vector<std::byte>()> voxels;  // waits, on any thread; destroy before the path
};

// For the drawing thread, unless stated otherwise. All functions throw Error{device} if the display's device is lost;
// feeding continues.
class VolumePictures {
  public:
    explicit VolumePictures(LiveRing& ring) : live_(ring) {}  // `ring` must outlive this object

    // Submits a picture of the newest volume and returns without reading it back. std::nullopt before the first volume.
    std::optional<VolumePicture> picture(const View& view);

    // std::nullopt in the same cases as follow(). Never waits.
    std::optional<ShownVolume> shown();

    // Returns the picture of a pane, drawn by Renderer::follow(); new volumes are shown at once. std::nullopt before
    // the first volume, or while slots are being replaced: keep using the previous result. Never waits.
    std::optional<FollowedVolume> follow(const View& view, double now_s, std::size_t pane);

    // Query the volume shown, like the functions of the renderer. std::nullopt also in the cases of follow().
    std::optional<Probe> probe(const View& view, std::int64_t x, std::int64_t y);
    std::optional<Histogram> histogram();
    std::optional<PlaneHistogram> plane_histogram(const View& view);

    // Returns the scale of flow colours. std::nullopt without flow, or while slots are being replaced.
    std::optional<FlowScale> flow_scale(const View& view);
    bool looks_at_flow() const { return live_.renderer.looks_at_flow(); }

    // Sets the height maps that views may refer to. They are lost when the volume changes shape or the devices are
    // restored. Waits.
    void set_heights(const HeightMaps& maps);
    bool has_heights() const { return live_.has_heights; }

    // Renders a finished picture at full quality. std::nullopt before the first volume.
    std::optional<Image> still(const View& view);

    bool is_finished(const VolumePicture& picture);
    void wait(const VolumePicture& picture);

    // Read back to the host, and count the bytes. A picture can be read until `pictures_under_way` later ones exist.
    // The newest volume is read from its texture.
    Image read(const VolumePicture& picture);
    std::optional<ReadVolume> read_volume();

    // Starts reading the newest volume while pictures continue.
    std::optional<ComingVolume> begin_reading_volume();
    std::int64_t bytes_read_back() const { return live_.renderer.bytes_read_back(); }

    // Shows a kept volume in pictures and queries until resume(). All kept volumes are held while newer ones pass
    // through the ring. Returns false, and changes nothing, if the volume is no longer kept.
    bool pause_at(std::uint64_t serial);
    void resume();

    // Keeps the recent volumes unchanged for the lifetime of the result; nullptr without slots.
    std::shared_ptr<const KeptHold> hold_kept();
    // Starts reading one of them. std::nullopt while it is being rewritten. Throws Error{output} if it is gone because
    // the slots were replaced.
    std::optional<ComingVolume> begin_reading_kept(const KeptHold& hold, std::uint64_t serial);

    // ---- any thread

    // Call if the display's device is lost: the feeder no longer waits for its pictures.
    void give_up_reading() noexcept;

    // Changes whenever a picture could show something new.
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
