// What a Renderer is made of: for the files that implement it.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "compute/error.h"
#include "render/bricks.h"
#include "render/histogram_counter.h"
#include "render/offscreen.h"
#include "render/probe.h"
#include "render/progressive.h"
#include "render/raycaster.h"
#include "render/resolver.h"
#include "render/section.h"
#include "render/slots/flow_texture.h"
#include "render/slots/height_texture.h"
#include "render/slots/upload.h"
#include "render/slots/volume_slots.h"
#include "render/texture_rate.h"
#include "render/vk/read_back.h"

namespace echolux {

// One of the two.
struct PreparedVolume {
    std::unique_ptr<VolumeTexture> whole;
    std::unique_ptr<PagedVolume> pages;

    const VolumeTexture& texture() const { return whole ? *whole : pages->texture(); }
};

struct Renderer::Parts {
    explicit Parts(const DeviceChoice& choice)
        : limits(choice.volume_limits), device(choice), queue(device), read_back(device, queue), brick_builder(device),
          raycaster(device, queue), resolver(device, queue), still_pictures(device),
          histograms(device, queue, read_back) {}

    ~Parts() { queue.settle(); }  // what is under way uses all of this

    // What a window shows in one of its parts, with memory of its own.
    ProgressivePicture& pane(std::size_t number) {
        return panes.try_emplace(number, device, queue, raycaster, resolver).first->second;
    }

    // Whether the picture has not been overwritten by a later one.
    bool holds(const Drawing& drawing) const {
        return raycaster.holds({drawing.image, drawing.value}) || std::ranges::any_of(panes, [&](const auto& pane) {
                   return pane.second.holds({drawing.image, drawing.value});
               });
    }

    PagedVolume* paged() const { return volume ? volume->pages.get() : nullptr; }

    Scene whole_scene() {
        if (!volume) {
            throw Error(ErrorCode::bad_setting, "there is no volume to show", "renderer", "set one first");
        }
        Scene scene = paged() ? Scene(*paged()) : Scene(*volume->whole);
        scene.serials = {0, paged() ? paged()->changes() : 0, scene_changes};
        if (flow) scene.flow = &*flow;
        if (heights) scene.heights = &*heights;
        put_in_space(scene);
        return scene;
    }

    void put_in_space(Scene& scene) {
        if (poses.empty()) return;
        field = scan_field(poses, scene.volume.grid());
        scene.field = &*field;
    }

    // The scene with the flow in the structure's place, where the view wants that. Throws Error{bad_setting}.
    static Scene chosen(const Scene& scene, const View& view) {
        if (view.flow_shown == FlowShown::overlay || scene.flow == nullptr) return scene;
        if (is_phasor(scene.flow->grid())) {
            throw Error(ErrorCode::bad_setting, "phasors are not shown alone", "view.flow_shown",
                        "choose overlay, or flow.unwrap = true");
        }
        Scene alone(*scene.flow, scene.filled_to, scene.previous_flow);
        alone.serials = scene.serials;
        alone.heights = scene.heights;
        alone.field = scene.field;
        return alone;
    }

    Scene shown_scene(const View& view) { return chosen(whole_scene(), view); }

    // Its first slices, of what is one texture.
    static VoxelBox box_of(const VolumeTexture& texture, std::int64_t slices) {
        return {{}, {texture.grid().depth, texture.grid().a_scans, slices}};
    }

    // What the view asks for, as all that follows takes it. Throws Error{bad_setting}.
    static View resolved(const View& view, const Scene& scene) {
        check_view(view);
        return scene.field != nullptr ? plane_view(view) : section_view(view, scene.volume.grid());
    }

    // What a picture of `view` needs of a large volume is there when this returns, as far as it can be.
    PagesShown bring_in(const View& view, const std::function<void()>& pause = {}) {
        return paged() ? paged()->bring_in(view, pause) : PagesShown{};
    }

    VolumeSlots& ring() {
        if (!slots) throw Error(ErrorCode::bad_setting, "there is no ring to show", "renderer", "make its slots first");
        return *slots;
    }

    // `work` takes the chain of a picture of `shown`, and submits it.
    template <class Work>
    auto chained(const ShownSlots& shown, const Work& work) {
        const gpu::Chain chain = ring().chain(shown);
        try {
            return work(chain);
        } catch (...) {
            slots->forget();
            throw;
        }
    }

    // The share of a chain that the first, the last or another of several submissions has.
    static gpu::Chain share_of(const gpu::Chain& chain, bool is_first, bool is_last) {
        gpu::Chain share;
        if (is_first) share.before = chain.before, share.waits = chain.waits;
        if (is_last) share.after = chain.after, share.signals = chain.signals;
        return share;
    }

    // The pixels of a part of a still picture, finished: RGBA of 8 bits or, where `depth` says so, floats. `pause` is
    // called between passes and may throw to stop.
    std::span<const std::byte> pixels_of(const Shot& shot, const gpu::Chain& chain, PictureDepth depth,
                                         const std::function<void()>& pause) {
        const std::int64_t passes = shot.view.samples;
        if (passes == 1 && depth == PictureDepth::codes) return read_back.pixels(*raycaster.cast(shot, chain).image);
        AccumulationBuffer accumulation(device, shot.region.width, shot.region.height);
        try {
            for (std::int64_t number = 0; number < passes; ++number) {
                raycaster.cast(
                    {.scene = shot.scene, .view = shot.view, .region = shot.region, .pass = {&accumulation, number}},
                    share_of(chain, number == 0, number + 1 == passes));
                pause();
            }
            return read_back.pixels(
                *resolver.resolve(still_pictures, accumulation, 1, shot.region, sheet_of(shot), depth).image);
        } catch (...) {
            queue.wait_for_all();  // earlier passes use the film
            throw;
        }
    }

    using TakeRows = std::function<void(const PictureRows&)>;

    // A whole picture. Tile by tile, each finished before the next begins: none is too large for the device.
    void still(const Scene& scene, const View& view, PictureBits bits, const TakeRows& take,
               const gpu::Chain& chain = {});

    Image read(const gpu::DeviceImage& picture) {
        const std::span<const std::byte> pixels = read_back.pixels(picture);
        const vk::Extent3D extent = picture.shape().extent;
        Image image{extent.width, extent.height, std::vector<std::uint8_t>(pixels.size())};
        std::memcpy(image.pixels.data(), pixels.data(), pixels.size());
        return image;
    }

    // As many rows of the region as are cast soon enough: for so long nobody hears of progress.
    std::int64_t rows_at_a_time(const Shot& shot) {
        constexpr std::int64_t min_rows = 64, max_rows = 1024;
        constexpr double patience_s = 0.2;
        const double passes = static_cast<double>(shot.view.samples);
        const std::int64_t rows = raycaster.group_rows_within(patience_s / passes, shot) * shared::group_height;
        return std::min(std::clamp(rows, min_rows, max_rows), shot.region.height);
    }

    Scene scene_of(const ShownSlots& shown, const View& view) {
        const VolumeTexture* previous = shown.previous ? &ring().texture(shown.previous->slot) : nullptr;
        Scene scene(ring().texture(shown.newest.slot), shown.newest.filled_to, previous);
        scene.serials = {shown.newest.serial, shown.previous ? shown.previous->serial : 0, scene_changes};
        scene.flow = ring().flow(shown.newest.slot);
        if (shown.previous) scene.previous_flow = ring().flow(shown.previous->slot);
        if (heights) scene.heights = &*heights;
        put_in_space(scene);
        return chosen(scene, view);
    }

    // One a pixel of the region.
    std::vector<RayMeasure> measures(const Shot& shot, const gpu::Chain& chain = {}) {
        const CastPicture picture = raycaster.cast(shot, chain);
        const std::span<const std::byte> pixels = read_back.pixels(*picture.image);
        std::vector<RayMeasure> measures(static_cast<std::size_t>(shot.region.width * shot.region.height));
        static_assert(sizeof(RayMeasure) == shared::measure_pixels * sizeof(shared::vec4));
        std::memcpy(measures.data(), pixels.data(), measures.size() * sizeof(RayMeasure));
        return measures;
    }

    std::optional<Probe> probe(const Scene& scene, const View& view, std::int64_t x, std::int64_t y,
                               const gpu::Chain& chain = {}) {
        const View fine = probing(view);
        const Shot shot{.scene = scene, .view = fine, .output = RayOutput::measures, .region = {x, y, 1, 1}};
        auto probe = probe_of(measures(shot, chain).front(), view, scene.grid(), x, y);
        if (!probe || scene.field == nullptr) return probe;
        for (std::size_t i = 1; i < 3; ++i) probe->index[i] = static_cast<double>(probe->voxel[i]);
        return probe;
    }

    // `chosen` is the range of the first volume of a series. Sizes are checked before a voxel is read. From any thread:
    // of this only the queue is shared, and whatever is recorded for it.
    std::unique_ptr<VolumeTexture> whole_of(const VoxelSource& source, const std::optional<ValueRange>& chosen) {
        check_structure(source.grid());
        auto texture = std::make_unique<VolumeTexture>(device, source.grid(), ValueRange{});
        const ValueRange percentiles = source.range();
        texture->set_range(percentiles, chosen.value_or(percentiles));
        upload(device, queue, brick_builder, *texture, source);
        return texture;
    }

    // Whoever lets go of it last waits for the pictures that show it.
    std::shared_ptr<PreparedVolume> kept(std::unique_ptr<VolumeTexture> whole, std::unique_ptr<PagedVolume> pages) {
        const auto let_go = [this](PreparedVolume* prepared) {
            queue.wait_or_be_lost();
            delete prepared;
        };
        return {new PreparedVolume{std::move(whole), std::move(pages)}, let_go};
    }

    void show(const std::shared_ptr<PreparedVolume>& prepared) {
        if (flow) queue.wait_for_all();  // pictures of it
        flow.reset();
        volume = prepared;
        ++scene_changes;
    }

    bool is_whole(const VolumeGrid& grid) const {
        const bool small =
            std::max({grid.depth, grid.a_scans, grid.b_scans}) <= limits.edge && grid.bytes() <= limits.pool_bytes;
        return small && gpu::fits(device, VolumeTexture::shape_for(device, grid));
    }

    VolumeLimits limits;
    gpu::Device device;
    gpu::Queue queue;
    gpu::ReadBack read_back;
    BrickBuilder brick_builder;
    Raycaster raycaster;
    Resolver resolver;
    ResolvedPictures still_pictures;
    std::optional<AccumulationBuffer>
        begun_accumulation;  // of pictures that are begun: one after the other, as the queue works
    HistogramCounter histograms;
    std::map<std::size_t, ProgressivePicture> panes;
    std::shared_ptr<PreparedVolume> volume;  // of a file
    std::optional<VolumeTexture> flow;       // of the volume
    std::optional<gpu::DeviceImage> heights;
    std::vector<BScanPose> poses;     // none: B-scans make a volume
    std::optional<ScanField> field;   // of the poses, for the scene that was asked for last
    std::uint64_t scene_changes = 0;  // of volumes, flow, heights, rings
    std::unique_ptr<VolumeSlots> slots;
};

}  // namespace echolux
