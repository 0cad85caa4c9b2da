// Implementation of Renderer, shared by its source files.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "render/bricks.h"
#include "render/denoiser.h"
#include "render/histogram_counter.h"
#include "render/plane_histogram.h"
#include "render/progressive.h"
#include "render/raycaster.h"
#include "render/renderer.h"
#include "render/resolver.h"
#include "render/slots/channel_textures.h"
#include "render/slots/volume_slots.h"
#include "render/vk/read_back.h"

namespace echolux {

// Exactly one of the two is set.
struct PreparedVolume {
    std::unique_ptr<VolumeTexture> whole;
    std::unique_ptr<PagedVolume> pages;

    const VolumeTexture& texture() const { return whole ? *whole : pages->texture(); }
};

// Peaks of the current volume.
struct KeptPeaks {
    gpu::DeviceBuffer buffer;
    BrickPeaks for_bricks;
};

struct Renderer::Parts {
    explicit Parts(const DeviceChoice& choice);
    ~Parts() { queue.settle(); }  // pending work uses all members

    // ---- Content. Throw Error{bad_setting} if there is none.

    bool is_empty(const Subject& subject) const { return subject.slots() == nullptr && !volume; }
    VolumeSlots& ring();
    PagedVolume* paged(const Subject& subject) const {
        return subject.slots() == nullptr && volume ? volume->pages.get() : nullptr;
    }

    // Returns the texture of the volume, or of the newest slot.
    const VolumeTexture& texture_of(const Subject& subject);

    // Returns the view as all further functions expect it: checked, with sections and channels resolved. Throws
    // Error{bad_setting}.
    View resolved(const View& view, const Subject& subject);

    // Returns the view with the curve of the channel that replaces a hidden volume, if any.
    static View with_curve_of_channel(View view);

    // Loads the pages that a picture of `view` needs, as far as possible.
    PagesShown bring_in(const View& view, const Subject& subject, const std::function<void()>& pause = {});

    // Returns the scene without channels, with the structure and flow as stored.
    Scene scene_of(const Subject& subject);

    // Returns the scene of a view, with the flow in place of the structure if requested. Throws Error{bad_setting}.
    Scene scene_of(const Subject& subject, const View& view);

    // Returns serials that change whenever a picture would. `changes` counts changes of the content itself.
    SceneSerials serials_of(const Subject& subject, std::uint64_t changes) const;

    // Calls `work` with the chain for a picture of the subject, which it must submit.
    template <class Work>
    auto with_chain(const Subject& subject, const Work& work) {
        const ShownSlots* shown = subject.slots();
        if (shown == nullptr) return work(gpu::Chain{});
        const auto note = [&](bool is_submitted) {
            if (shown->submitted != nullptr) *shown->submitted = is_submitted;
        };
        const gpu::Chain chain = ring().chain(*shown);
        try {
            note(true);
            return work(chain);
        } catch (...) {
            note(false);
            slots->forget();
            throw;
        }
    }

    // Updates the range of the colours from a new measurement of the ring's flow.
    void take_speed(const std::optional<double>& usual);

    // ---- Pictures.

    using TakeRows = std::function<void(const PictureRows&)>;

    // Renders a whole picture tile by tile, each finished before the next, so that no size exceeds the device.
    void still(const Scene& scene, const View& view, PictureBits bits, const TakeRows& take, const gpu::Chain& chain);

    // Returns one result per pixel of the region.
    std::vector<RayMeasure> measures(const Shot& shot, const gpu::Chain& chain);
    std::vector<PathCounts> path_counts(const Scene& scene, const View& view, const gpu::Chain& chain);

    // Returns the picture of a pane of the window, creating it on first use.
    ProgressivePicture& pane(std::size_t number) {
        return panes.try_emplace(number, device, queue, raycaster, resolver, denoiser).first->second;
    }

    // Returns true if the picture has not been overwritten.
    bool holds(const Drawing& drawing) const;

    Image read(const gpu::DeviceImage& picture);

    // ---- Volumes.

    // Uploads the voxels of a volume to one texture. `chosen` is the range of the first volume of a series. Checks
    // sizes before reading voxels. Thread-safe: it shares only the queue and what is recorded for it.
    std::unique_ptr<VolumeTexture> whole_of(const VoxelSource& source, const std::optional<ValueRange>& chosen);

    // Returns a shared volume. Its last release waits for the pictures that show it.
    std::shared_ptr<PreparedVolume> kept(std::unique_ptr<VolumeTexture> whole, std::unique_ptr<PagedVolume> pages);

    void show(const std::shared_ptr<PreparedVolume>& prepared);

    // Returns true if the device can hold the volume as one texture.
    bool is_whole(const VolumeGrid& grid) const;

    VolumeLimits limits;
    gpu::Device device;
    gpu::Queue queue;
    gpu::ReadBack read_back;
    BrickBuilder brick_builder;
    Raycaster raycaster;
    Resolver resolver;
    Denoiser denoiser;
    ResolvedPictures still_pictures;
    std::optional<AccumulationBuffer> begun_accumulation;  // of begun pictures, one after the other in queue order
    HistogramCounter histograms;
    PlaneHistogramCounter plane_histograms;
    HistogramCounter flow_speeds;      // of the ring's flow
    std::optional<double> flow_speed;  // usual speed that sets the colours, see Renderer::look_at_flow()
    std::map<std::size_t, ProgressivePicture> panes;
    std::shared_ptr<PreparedVolume> volume;  // of a file
    std::optional<VolumeTexture> flow;       // of the volume
    ChannelTextures channel_textures;        // of all views
    std::optional<KeptPeaks> peaks;          // of the volume, as if it were reconstructed on this device
    std::optional<gpu::DeviceImage> heights;
    std::vector<BScanPose> poses;     // empty: the B-scans are a volume
    std::optional<ScanField> field;   // of the poses, for the last requested scene
    std::uint64_t scene_changes = 0;  // counts changes of volume, flow, heights and ring
    std::unique_ptr<VolumeSlots> slots;

  private:
    Scene scene_of_volume();
    Scene with_channels(Scene scene, const View& view);
    Scene scene_of_slots(const ShownSlots& shown);
    std::span<const std::byte> pixels_of(const Shot& shot, const gpu::Chain& chain, PictureDepth depth,
                                         const std::function<void(std::int64_t passes)>& pause);
    std::vector<std::byte> band_of(const Shot& band, PictureBits bits, const gpu::Chain& chain,
                                   const std::function<void(std::int64_t columns)>& done);
    std::int64_t rows_at_a_time(const Shot& shot);
};

}  // namespace echolux
