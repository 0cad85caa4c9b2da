// What a Renderer is made of: for the files that implement it.
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

// One of the two.
struct PreparedVolume {
    std::unique_ptr<VolumeTexture> whole;
    std::unique_ptr<PagedVolume> pages;

    const VolumeTexture& texture() const { return whole ? *whole : pages->texture(); }
};

struct KeptPeaks {
    gpu::DeviceBuffer buffer;
    BrickPeaks for_bricks;
};

struct Renderer::Parts {
    explicit Parts(const DeviceChoice& choice);
    ~Parts() { queue.settle(); }  // what is under way uses all of this

    // ---- what is shown. Throw Error{bad_setting} where there is nothing.

    bool is_empty(const Subject& subject) const { return subject.slots() == nullptr && !volume; }
    VolumeSlots& ring();
    PagedVolume* paged(const Subject& subject) const {
        return subject.slots() == nullptr && volume ? volume->pages.get() : nullptr;
    }

    // The volume, or the newest of slots.
    const VolumeTexture& texture_of(const Subject& subject);

    // What the view asks for, as all that follows takes it. Throws Error{bad_setting}.
    View resolved(const View& view, const Subject& subject);

    // The same with the curve of a channel that takes the place of the volume.
    static View with_curve_of_channel(View view);

    // What a picture of `view` needs of a large volume is there when this returns, as far as it can be.
    PagesShown bring_in(const View& view, const Subject& subject, const std::function<void()>& pause = {});

    Scene scene_of(const Subject& subject);

    // With the flow in the structure's place, where the view wants that. Throws Error{bad_setting}.
    Scene scene_of(const Subject& subject, const View& view);

    // Other ones whenever a picture would be; `changes` of what is shown itself.
    SceneSerials serials_of(const Subject& subject, std::uint64_t changes) const;

    // `work` takes the chain that a picture of the subject stands in, and submits it.
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

    // The usual speed of the ring's flow, counted lately.
    void take_speed(const std::optional<double>& usual);

    // ---- pictures

    using TakeRows = std::function<void(const PictureRows&)>;

    // A whole picture. Tile by tile, each finished before the next begins: none is too large for the device.
    void still(const Scene& scene, const View& view, PictureBits bits, const TakeRows& take, const gpu::Chain& chain);

    // One a pixel of the region.
    std::vector<RayMeasure> measures(const Shot& shot, const gpu::Chain& chain);
    std::vector<PathCounts> path_counts(const Scene& scene, const View& view, const gpu::Chain& chain);

    // What a window shows in one of its parts, with memory of its own.
    ProgressivePicture& pane(std::size_t number) {
        return panes.try_emplace(number, device, queue, raycaster, resolver, denoiser).first->second;
    }

    // Whether the picture has not been overwritten by a later one.
    bool holds(const Drawing& drawing) const;

    Image read(const gpu::DeviceImage& picture);

    // ---- volumes

    // `chosen` is the range of the first volume of a series. Sizes are checked before a voxel is read. From any thread:
    // of this only the queue is shared, and whatever is recorded for it.
    std::unique_ptr<VolumeTexture> whole_of(const VoxelSource& source, const std::optional<ValueRange>& chosen);

    // Whoever lets go of it last waits for the pictures that show it.
    std::shared_ptr<PreparedVolume> kept(std::unique_ptr<VolumeTexture> whole, std::unique_ptr<PagedVolume> pages);

    void show(const std::shared_ptr<PreparedVolume>& prepared);

    // Whether the device holds it as one texture.
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
    std::optional<AccumulationBuffer>
        begun_accumulation;  // of pictures that are begun: one after the other, as the queue works
    HistogramCounter histograms;
    PlaneHistogramCounter plane_histograms;
    HistogramCounter flow_speeds;      // of the ring's flow
    std::optional<double> flow_speed;  // the usual one, as colours have it: see Renderer::look_at_flow()
    std::map<std::size_t, ProgressivePicture> panes;
    std::shared_ptr<PreparedVolume> volume;  // of a file
    std::optional<VolumeTexture> flow;       // of the volume
    ChannelTextures channel_textures;        // of views
    std::optional<KeptPeaks> peaks;          // of the volume, as if it were made here
    std::optional<gpu::DeviceImage> heights;
    std::vector<BScanPose> poses;     // none: B-scans make a volume
    std::optional<ScanField> field;   // of the poses, for the scene that was asked for last
    std::uint64_t scene_changes = 0;  // of volumes, flow, heights, rings
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
