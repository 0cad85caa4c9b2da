#include "render/renderer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "render/bricks.h"
#include "render/camera.h"
#include "render/denoiser.h"
#include "render/histograms.h"
#include "render/progressive.h"
#include "render/raycast_frame.h"
#include "render/raycaster.h"
#include "render/resolver.h"
#include "render/slots/volume_slots.h"
#include "render/slots/volume_texture.h"
#include "render/vk/read_back.h"

namespace echolux {

// Exactly one of the two is set.
struct PreparedVolume {
    std::unique_ptr<VolumeTexture> whole;
    std::unique_ptr<PagedVolume> pages;

    const VolumeTexture& texture() const { return whole ? *whole : pages->texture(); }
};

// Peaks of the current volume.
struct VolumePeaks {
    gpu::DeviceBuffer buffer;
    BrickPeaks for_bricks;
};

struct Renderer::Parts {
    explicit Parts(const GpuDevice& choice);
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
    PageCoverage bring_in(const View& view, const Subject& subject, const std::function<void()>& pause = {});

    // Returns the scene without channels, with the structure and flow as stored.
    Scene scene_of(const Subject& subject);

    // Returns the scene of a view, with the flow instead of the structure if requested. Throws Error{bad_setting}.
    Scene scene_of(const Subject& subject, const View& view);

    // Returns serials that change whenever a picture would. `changes` counts changes of the content itself.
    SceneSerials serials_of(const Subject& subject, std::uint64_t changes) const;

    // Calls `work` with the chain for a picture of the subject, which it must submit.
    template <class Work>
    auto with_chain(const Subject& subject, const Work& work) {
        const DisplayedSlots* shown = subject.slots();
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

    // ---- Volumes.

    // Uploads the voxels of a volume to a single texture. `chosen` is the range of the first volume of a series. Checks
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
    std::optional<VolumePeaks> peaks;        // of the volume, as if it were reconstructed on this device
    std::optional<gpu::DeviceImage> heights;
    std::vector<BScanPose> poses;     // empty: the B-scans are a volume
    std::optional<ScanField> field;   // of the poses, for the last requested scene
    std::uint64_t scene_changes = 0;  // counts changes of volume, flow, heights and ring
    std::unique_ptr<VolumeSlots> slots;

  private:
    Scene scene_of_volume();
    Scene with_channels(Scene scene, const View& view);
    Scene scene_of_slots(const DisplayedSlots& shown);
    std::span<const std::byte> pixels_of(const Shot& shot, const gpu::Chain& chain, PictureDepth depth,
                                         const std::function<void(std::int64_t passes)>& pause);
    std::vector<std::byte> band_of(const Shot& band, PictureBits bits, const gpu::Chain& chain,
                                   const std::function<void(std::int64_t columns)>& done);
    std::int64_t rows_at_a_time(const Shot& shot);
};

Renderer::Renderer(const GpuDevice& choice)
    : parts_(gpu::reporting("starting the renderer", [&] { return std::make_unique<Parts>(choice); })) {}

Renderer::~Renderer() = default;

const std::string& Renderer::device_name() const {
    return parts_->device.name();
}

const DeviceId& Renderer::device_id() const {
    return parts_->device.id();
}

bool Renderer::is_software() const {
    return parts_->device.is_software();
}

void Renderer::set_volume(const VolumeGrid& grid, const void* voxels) {
    gpu::reporting("uploading the volume",
                   [&] { parts_->show(parts_->kept(parts_->whole_of(*voxels_in_memory(grid, voxels), {}), {})); });
}

ValueRange fixed_range(const PreparedVolume& prepared) {
    return prepared.texture().range(RangeSource::fixed);
}

std::shared_ptr<PreparedVolume> Renderer::prepare(std::shared_ptr<const VoxelSource> source,
                                                  const std::optional<ValueRange>& chosen,
                                                  const std::function<void(std::int64_t voxels)>& done) {
    return gpu::reporting("uploading the volume", [&] {
        if (!parts_->is_whole(source->grid())) {
            return parts_->kept({}, std::make_unique<PagedVolume>(parts_->device, parts_->queue, parts_->brick_builder,
                                                                  parts_->limits, std::move(source), chosen, done));
        }
        auto whole = parts_->whole_of(*source, chosen);
        if (done) done(source->grid().voxels());
        return parts_->kept(std::move(whole), {});
    });
}

void Renderer::show(const std::shared_ptr<PreparedVolume>& prepared) {
    gpu::reporting("showing a volume", [&] { parts_->show(prepared); });
}

void Renderer::set_volume(std::shared_ptr<const VoxelSource> source,
                          const std::function<void(std::int64_t voxels)>& done) {
    show(prepare(std::move(source), {}, done));
}

bool Renderer::is_in_pages() const {
    return parts_->paged({}) != nullptr;
}

TransferFunction Renderer::transfer_function(const View& view) const {
    check_view(view);
    const Scene scene = parts_->scene_of({}, view);
    const VolumeTexture& volume = scene.volume;
    return echolux::transfer_function(Parts::with_curve_of_channel(view), volume.grid(), volume.range(view.range));
}

void Renderer::set_flow(const VolumeGrid& grid, const void* voxels) {
    gpu::reporting("uploading the flow", [&] {
        check_flow(grid, parts_->texture_of({}).grid());
        VolumeTexture flow = flow_texture(parts_->device, parts_->queue, parts_->brick_builder, grid, voxels);
        parts_->queue.wait_for_all();  // pending pictures use the old flow
        parts_->flow.emplace(std::move(flow));
        ++parts_->scene_changes;
    });
}

void Renderer::clear_flow() {
    parts_->queue.wait_for_all();
    parts_->flow.reset();
    ++parts_->scene_changes;
}

void Renderer::clear() {
    gpu::reporting("clearing the stage", [&] {
        parts_->queue.wait_for_all();
        parts_->peaks.reset();
        parts_->volume.reset();
        parts_->flow.reset();
        parts_->heights.reset();
        parts_->poses.clear();
        parts_->slots.reset();
        ++parts_->scene_changes;
    });
}

void Renderer::set_heights(const HeightMaps& maps) {
    gpu::reporting("uploading height maps", [&] {
        check_heights(maps);
        std::optional<gpu::DeviceImage> texture;
        if (!maps.empty()) texture.emplace(height_texture(parts_->device, parts_->queue, maps));
        parts_->queue.wait_for_all();  // pending pictures use the old maps
        parts_->heights.reset();
        if (texture) parts_->heights.emplace(std::move(*texture));
        ++parts_->scene_changes;
    });
}

void Renderer::set_poses(const std::vector<BScanPose>& poses) {
    parts_->poses = poses;
    ++parts_->scene_changes;
}

LiveSlots Renderer::make_slots(const SlotRequest& wanted) {
    return gpu::reporting("creating the slots of a live ring", [&] {
        check_structure(wanted.grid);
        if (wanted.flow) check_flow(*wanted.flow, wanted.grid);
        auto made = std::make_unique<VolumeSlots>(parts_->device, parts_->queue, parts_->brick_builder, wanted);
        ++parts_->scene_changes;  // serials of the new slots start over
        parts_->slots = std::move(made);
        parts_->flow_speed.reset();
        parts_->flow_speeds.forget();
        parts_->slots->watch_waits();
        return parts_->slots->for_writing();
    });
}

void Renderer::abandon_writing(std::uint64_t value) noexcept {
    if (parts_->slots) parts_->slots->abandon_writing(value);
}

void Renderer::abandon_reading(std::uint64_t value) noexcept {
    if (parts_->slots) parts_->slots->abandon_reading(value);
}

std::int64_t Renderer::peak_depths() const {
    return parts_->texture_of({}).bricks().edge();
}

bool Renderer::set_peaks(const void* peaks) {
    return gpu::reporting("uploading peaks", [&] {
        const VolumeTexture& volume = parts_->texture_of({});
        const std::size_t bytes = BrickPeaks::bytes(volume.grid(), volume.bricks().edge());
        parts_->queue.wait_for_all();
        parts_->peaks.reset();
        if (!BrickPeaks::fit(parts_->device, volume.grid(), volume.bricks().edge())) return false;
        const gpu::HostBuffer staging(parts_->device, bytes, vk::BufferUsageFlagBits::eTransferSrc);
        std::memcpy(staging.bytes().data(), peaks, bytes);
        gpu::DeviceBuffer buffer(parts_->device, bytes, vk::BufferUsageFlagBits::eStorageBuffer);
        parts_->queue.run(
            [&](const vk::raii::CommandBuffer& commands) { buffer.record_copy_from(commands, staging.handle(), 0); });
        BrickPeaks for_bricks(parts_->device, volume.bricks(), volume.grid(), buffer.handle());
        parts_->peaks.emplace(VolumePeaks{std::move(buffer), std::move(for_bricks)});
        return true;
    });
}

std::optional<double> Renderer::seconds_for(const View& wanted, VolumeState state) {
    return gpu::reporting("timing a frame", [&] {
        const View view = parts_->resolved(wanted, {});
        if (state == VolumeState::changing) ++parts_->scene_changes;
        const Scene scene = parts_->scene_of({}, view);
        if (state == VolumeState::changing && scene.pages != nullptr) {
            throw Error(ErrorCode::bad_setting, "a paged volume cannot change", "volume", "time it at rest");
            // The timed picture needs only the max. Both ends are restored afterwards.
        }
        const NewSlices all{0, scene.volume.grid().b_scans};
        const auto rebuild = [&](BrickEnds ends) {
            return [&, ends](const vk::raii::CommandBuffer& commands) {
                const Bricks& bricks = scene.volume.bricks();
                if (parts_->peaks && ends == BrickEnds::largest && &scene.volume == &parts_->texture_of({})) {
                    parts_->brick_builder.record_peaks(commands, bricks, parts_->peaks->for_bricks, all);
                } else {
                    parts_->brick_builder.record(commands, bricks, all, ends);
                }
                gpu::record_order(commands);
            };
        };
        parts_->bring_in(view, {});
        gpu::Chain chain;
        if (state == VolumeState::changing) chain.before = rebuild(BrickEnds::largest);
        std::optional<AccumulationBuffer> accumulation;  // required by paths
        if (view.mode == ViewMode::traced) accumulation.emplace(parts_->device, view.width, view.height);
        const Pass pass{accumulation ? &*accumulation : nullptr};
        const CastPicture picture = parts_->raycaster.cast({.scene = scene, .view = view, .pass = pass}, chain);
        parts_->queue.wait(picture.value);
        if (state == VolumeState::changing) parts_->queue.run(rebuild(BrickEnds::both));
        return picture.stopwatch->seconds();
    });
}

std::vector<double> Renderer::texture_rates(int repetitions) {
    return gpu::reporting("measuring the texture unit",
                          [&] { return echolux::texture_rates(parts_->device, parts_->queue, repetitions); });
}

CastStats Renderer::cast_stats() const {
    return parts_->raycaster.stats();
}

std::int64_t Renderer::fireflies(std::size_t pane) {
    return parts_->pane(pane).fireflies();
}

gpu::SharedDevice Renderer::shared_device() const {
    return {parts_->device, parts_->queue, parts_->read_back};
}

std::int64_t Renderer::statistics_read_back() const {
    return parts_->read_back.statistics_read();
}

std::int64_t Renderer::bytes_read_back() const {
    return parts_->read_back.bytes_read();
}

// ---- Renderer parts

Renderer::Parts::Parts(const GpuDevice& choice)
    : limits(choice.volume_limits), device(choice), queue(device), read_back(device, queue), brick_builder(device),
      raycaster(device, queue), resolver(device, queue), denoiser(device, queue, read_back), still_pictures(device),
      histograms(device, queue, read_back), plane_histograms(device, queue, read_back),
      flow_speeds(device, queue, read_back), channel_textures(device, queue, brick_builder) {}

VolumeSlots& Renderer::Parts::ring() {
    if (!slots) throw Error(ErrorCode::bad_setting, "there is no ring to show", "renderer", "create its slots first");
    return *slots;
}

const VolumeTexture& Renderer::Parts::texture_of(const Subject& subject) {
    if (subject.slots() != nullptr) return ring().texture(subject.slots()->newest.slot);
    if (!volume) throw Error(ErrorCode::bad_setting, "there is no volume to show", "renderer", "set one first");
    return volume->texture();
}

namespace {

bool has_heights(const Cut& cut) {
    return !cut.top_from.empty() || cut.top_um > above_all_um || !cut.bottom_from.empty() ||
           cut.bottom_um < below_all_um;
}

View without_heights(View view) {
    const Cut whole;
    view.top_from = view.bottom_from = whole.top_from;
    view.top_um = whole.top_um;
    view.bottom_um = whole.bottom_um;
    return view;
}

}  // namespace

// With labels alone, the volume remains in the scene but is invisible.
View Renderer::Parts::with_curve_of_channel(View view) {
    if (view.channel_1_shown) return view;
    if (const Channel* channel = in_place_of_volume(view)) {
        static_cast<Curve&>(view) = curve_of(*channel, view);
    } else if (view.show == ViewContent::volume) {
        if (view.mode != ViewMode::traced) view.mode = ViewMode::composite;
        view.opacity = 0;
        view.isosurface = false;
    }
    return view;
}

View Renderer::Parts::resolved(const View& view, const Subject& subject) {
    // Order matters: channels and heights are resolved after the section.
    const VolumeGrid& grid = texture_of(subject).grid();
    check_view(view);
    if (!view.heights_cut && has_heights(view)) return resolved(without_heights(view), subject);
    View resolved = poses.empty() ? section_view(view, grid) : plane_view(view);
    const DisplayedSlots* shown = subject.slots();
    const bool is_partial = shown != nullptr && shown->newest.filled_to < grid.b_scans;
    if (is_partial) resolved.mode = mode_while_cast(resolved);
    return with_curve_of_channel(std::move(resolved));
}

PageCoverage Renderer::Parts::bring_in(const View& view, const Subject& subject, const std::function<void()>& pause) {
    PagedVolume* of_pages = paged(subject);
    return of_pages != nullptr ? of_pages->bring_in(view, pause) : PageCoverage{};
}

Scene Renderer::Parts::scene_of_volume() {
    const VolumeTexture& texture = texture_of({});
    const PagedVolume* of_pages = paged({});
    Scene scene = of_pages != nullptr ? Scene(*of_pages) : Scene(texture);
    scene.serials = {0, of_pages != nullptr ? of_pages->changes() : 0, scene_changes};
    if (flow) scene.flow = &*flow;
    return scene;
}

Scene Renderer::Parts::scene_of_slots(const DisplayedSlots& shown) {
    const VolumeTexture* previous = shown.previous ? &ring().texture(shown.previous->slot) : nullptr;
    Scene scene(ring().texture(shown.newest.slot), shown.newest.filled_to, previous);
    scene.serials = {shown.newest.serial, shown.previous ? shown.previous->serial : 0, scene_changes};
    scene.flow = ring().flow(shown.newest.slot);
    if (shown.previous) scene.previous_flow = ring().flow(shown.previous->slot);
    return scene;
}

Scene Renderer::Parts::scene_of(const Subject& subject) {
    Scene scene = subject.slots() != nullptr ? scene_of_slots(*subject.slots()) : scene_of_volume();
    if (heights) scene.heights = &*heights;
    if (poses.empty()) return scene;
    field = scan_field(poses, scene.volume.grid());
    scene.field = &*field;
    return scene;
}

Scene Renderer::Parts::scene_of(const Subject& subject, const View& view) {
    Scene scene = scene_of(subject);
    if (view.flow_shown == FlowDisplay::hidden) scene.flow = scene.previous_flow = nullptr;
    if (view.flow_shown != FlowDisplay::alone || scene.flow == nullptr) return with_channels(std::move(scene), view);
    if (is_phasor(scene.flow->grid())) {
        throw Error(ErrorCode::bad_setting, "phasors cannot be shown alone", "view.flow_shown",
                    "choose overlay, or flow.unwrap = true");
    }
    Scene alone(*scene.flow, scene.filled_to, scene.previous_flow);
    alone.serials = scene.serials;
    alone.heights = scene.heights;
    alone.field = scene.field;
    return with_channels(std::move(alone), view);
}

// Adds the visible channels to a scene. One of them replaces a hidden volume.
Scene Renderer::Parts::with_channels(Scene scene, const View& view) {
    check_channels(view, scene.volume.grid(), "the volume that is shown");
    if (channel_textures.bring_in(view)) scene.serials[2] = ++scene_changes;
    if (std::ranges::none_of(view.channels, &Channel::is_seen)) return scene;
    const Channel* first = in_place_of_volume(view);
    const VolumeTexture& base = first != nullptr ? channel_textures.of(*first) : scene.volume;
    Scene together = first != nullptr ? Scene(base) : scene;
    together.serials = scene.serials;
    together.flow = scene.flow;
    together.heights = scene.heights;
    together.field = scene.field;
    for (std::size_t i = 0; i < view.channels.size(); ++i) {
        const Channel& channel = view.channels[i];
        if (channel.is_seen() && &channel != first) together.channels.push_back({&channel_textures.of(channel), i});
    }
    return together;
}

void Renderer::Parts::take_speed(const std::optional<double>& usual) {
    constexpr double too_wide = 2;
    const VolumeTexture* of_ring = slots ? slots->flow(0) : nullptr;
    if (of_ring == nullptr || !usual || !(*usual > 0)) return;
    if (flow_speed && *usual <= *flow_speed && *usual * too_wide > *flow_speed) return;
    flow_speed = *usual;
    slots->set_flow_range(flow_range_to(of_ring->grid(), *usual));
    ++scene_changes;  // redraws finished pictures
}

// Serials of slots start at 1 because the volume has serial 0.
SceneSerials Renderer::Parts::serials_of(const Subject& subject, std::uint64_t changes) const {
    return {subject.slots() != nullptr ? subject.slots()->newest.serial + 1 : 0, changes, scene_changes};
}

std::vector<RayMeasure> Renderer::Parts::measures(const Shot& shot, const gpu::Chain& chain) {
    const CastPicture picture = raycaster.cast(shot, chain);
    const std::span<const std::byte> pixels = read_back.pixels(*picture.image);
    std::vector<RayMeasure> measures(index(shot.region.width * shot.region.height));
    static_assert(sizeof(RayMeasure) == shared::measure_pixels * sizeof(shared::vec4));
    std::memcpy(measures.data(), pixels.data(), measures.size() * sizeof(RayMeasure));
    return measures;
}

std::vector<PathCounts> Renderer::Parts::path_counts(const Scene& scene, const View& view, const gpu::Chain& chain) {
    AccumulationBuffer accumulation(device, view.width, view.height);
    try {
        for (std::int64_t number = 0; number < view.paths; ++number) {
            raycaster.cast({.scene = scene, .view = view, .output = RayOutput::counts, .pass = {&accumulation, number}},
                           gpu::share_of(chain, number == 0, number + 1 == view.paths));
        }
        const std::span<const std::byte> pixels = read_back.pixels(accumulation.mean);
        std::vector<PathCounts> counts(index(view.width * view.height));
        static_assert(sizeof(PathCounts) == sizeof(shared::vec4));
        std::memcpy(counts.data(), pixels.data(), counts.size() * sizeof(PathCounts));
        return counts;
    } catch (...) {
        queue.wait_for_all();  // earlier passes use the accumulation buffer
        throw;
    }
}

bool Renderer::Parts::holds(const Drawing& drawing) const {
    return raycaster.holds({drawing.image, drawing.value}) || std::ranges::any_of(panes, [&](const auto& pane) {
               return pane.second.holds({drawing.image, drawing.value});
           });
}

std::unique_ptr<VolumeTexture> Renderer::Parts::whole_of(const VoxelSource& source,
                                                         const std::optional<ValueRange>& chosen) {
    check_structure(source.grid());
    auto texture = std::make_unique<VolumeTexture>(device, source.grid(), ValueRange{});
    const ValueRange percentiles = source.range();
    texture->set_range(percentiles, chosen.value_or(percentiles));
    upload(device, queue, brick_builder, *texture, source);
    return texture;
}

std::shared_ptr<PreparedVolume> Renderer::Parts::kept(std::unique_ptr<VolumeTexture> whole,
                                                      std::unique_ptr<PagedVolume> pages) {
    // Deleter.
    const auto release = [this](PreparedVolume* prepared) {
        queue.wait_or_be_lost();
        delete prepared;
    };
    return {new PreparedVolume{std::move(whole), std::move(pages)}, release};
}

void Renderer::Parts::show(const std::shared_ptr<PreparedVolume>& prepared) {
    if (flow || peaks) queue.wait_for_all();  // pending pictures use them
    flow.reset();
    peaks.reset();
    volume = prepared;
    ++scene_changes;
}

bool Renderer::Parts::is_whole(const VolumeGrid& grid) const {
    const bool small =
        std::max({grid.depth, grid.a_scans, grid.b_scans}) <= limits.edge && grid.bytes() <= limits.pool_bytes;
    return small && gpu::fits(device, VolumeTexture::shape_for(device, grid));
}

// ---- Renderer: pictures on the device for windows and live displays, and measurements.

static PanePicture followed_picture(const DisplayedPicture& shown) {
    return {{shown.picture.image, shown.picture.value}, shown.pitch, shown.passes, shown.is_final};
}

static VoxelBox first_slices(const VolumeTexture& texture, std::int64_t slices) {
    return {{}, {texture.grid().depth, texture.grid().a_scans, slices}};
}

Drawing Renderer::draw(const View& wanted, const Subject& subject) {
    return gpu::reporting("rendering", [&] {
        const View view = parts_->resolved(wanted, subject);
        parts_->bring_in(view, subject);
        const Scene scene = parts_->scene_of(subject, view);
        return parts_->with_chain(subject, [&](const gpu::Chain& chain) {
            const CastPicture picture = parts_->raycaster.cast({.scene = scene, .view = view}, chain);
            return Drawing{picture.image, picture.value};
        });
    });
}

PanePicture Renderer::follow(const View& wanted, double now_s, std::size_t pane, const Subject& subject) {
    return gpu::reporting("rendering", [&] {
        const View view = parts_->resolved(wanted, subject);
        ProgressivePicture& progressive = parts_->pane(pane);
        const DisplayedSlots* shown = subject.slots();
        PagedVolume* paged = parts_->paged(subject);
        const std::uint64_t changes = shown != nullptr   ? static_cast<std::uint64_t>(shown->newest.filled_to)
                                      : paged != nullptr ? paged->bring_in_for(pane, view, !progressive.is_of(view))
                                                         : 0;
        const SceneSerials serials = parts_->serials_of(subject, changes);
        if (!progressive.is_due(view, serials, now_s)) return followed_picture(progressive.shown());
        const Scene scene = parts_->scene_of(subject, view);
        return parts_->with_chain(subject, [&](const gpu::Chain& chain) {
            return followed_picture(progressive.update(view, scene, serials, now_s, chain));
        });
    });
}

std::vector<RayMeasure> Renderer::measure(const View& wanted, const Subject& subject) {
    return gpu::reporting("measuring rays", [&] {
        const View view = parts_->resolved(wanted, subject);
        parts_->bring_in(view, subject);
        const Scene scene = parts_->scene_of(subject, view);
        return parts_->with_chain(subject, [&](const gpu::Chain& chain) {
            return parts_->measures({.scene = scene, .view = view, .output = RayOutput::measures}, chain);
        });
    });
}

std::vector<PathCounts> Renderer::count_paths(const View& wanted, const Subject& subject) {
    return gpu::reporting("counting paths", [&] {
        View view = parts_->resolved(wanted, subject);
        view.mode = ViewMode::traced;
        parts_->bring_in(view, subject);
        const Scene scene = parts_->scene_of(subject, view);
        if (scene.is_partial()) {
            throw Error(ErrorCode::bad_setting, "an incomplete volume cannot be path traced", "view.mode");
        }
        return parts_->with_chain(subject,
                                  [&](const gpu::Chain& chain) { return parts_->path_counts(scene, view, chain); });
    });
}

std::optional<Probe> Renderer::probe(const View& wanted, std::int64_t x, std::int64_t y, const Subject& subject) {
    return gpu::reporting("probing", [&] {
        const View view = parts_->resolved(wanted, subject);
        check_pixel(view, x, y);
        if (PagedVolume* paged = parts_->paged(subject)) paged->bring_in_beside_panes(view);
        const Scene scene = parts_->scene_of(subject, view);
        const View fine = view_for_probe(view);
        const Shot shot{.scene = scene, .view = fine, .output = RayOutput::measures, .region = {x, y, 1, 1}};
        const RayMeasure measure =
            parts_->with_chain(subject, [&](const gpu::Chain& chain) { return parts_->measures(shot, chain).front(); });
        std::optional<Probe> probe = probe_of(measure, view, scene.grid(), x, y);
        if (probe && scene.flow != nullptr && measure.is_flow_known > 0) {
            probe->velocity = measure.velocity;
            probe->velocity_unit = echolux::flow_scale(view, *scene.flow).unit;
        }
        if (!probe || scene.field == nullptr) return probe;
        for (std::size_t i = 1; i < 3; ++i) probe->index[i] = static_cast<double>(probe->voxel[i]);
        return probe;
    });
}

// Partially filled volumes are only counted if there is no complete previous one.
std::optional<Histogram> Renderer::histogram(const Subject& subject) {
    return gpu::reporting("counting values", [&]() -> std::optional<Histogram> {
        if (parts_->is_empty(subject)) return {};
        HistogramCounter& counter = parts_->histograms;
        counter.newest();
        const SceneSerials serials = parts_->serials_of(subject, 0);
        if (!counter.is_due(serials)) return counter.newest();
        const Scene scene = parts_->scene_of(subject);
        const VolumeTexture& texture = scene.previous != nullptr ? *scene.previous : scene.volume;
        const std::int64_t slices = scene.previous != nullptr ? texture.grid().b_scans : scene.filled_to;
        const std::array whole{first_slices(texture, slices)};
        const auto coarse = scene.pages != nullptr ? scene.pages->coarse_boxes() : std::vector<VoxelBox>{};
        const std::span<const VoxelBox> boxes = scene.pages != nullptr ? std::span(coarse) : std::span(whole);
        parts_->with_chain(subject, [&](const gpu::Chain& chain) { counter.count(texture, boxes, serials, chain); });
        return counter.newest();
    });
}

std::optional<PlaneHistogram> Renderer::plane_histogram(const View& wanted, const Subject& subject) {
    return gpu::reporting("counting values and slopes", [&]() -> std::optional<PlaneHistogram> {
        if (parts_->is_empty(subject)) return {};
        const View view = parts_->resolved(wanted, subject);
        const Scene found = parts_->scene_of(subject, view);
        const VolumeTexture& texture = found.previous != nullptr ? *found.previous : found.volume;
        Scene scene(texture);
        scene.heights = found.heights;
        if (found.pages != nullptr || found.field != nullptr) return {};
        if (found.previous == nullptr && found.is_partial()) return {};
        const TransferFunction function = echolux::transfer_function(view, texture.grid(), texture.range(view.range));
        if (!function.plane || (function.plane->second == SecondAxis::distance && view.top_from.empty())) return {};
        PlaneHistogramCounter& counter = parts_->plane_histograms;
        counter.newest();
        const Shot shot{.scene = scene, .view = view};
        const SceneSerials serials = parts_->serials_of(subject, 0);
        if (!counter.is_due(shot, function, serials)) return counter.newest();
        parts_->with_chain(subject, [&](const gpu::Chain& chain) { counter.count(shot, function, serials, chain); });
        return counter.newest();
    });
}

std::optional<FlowScale> Renderer::flow_scale(const View& view) const {
    const VolumeTexture* flow = parts_->slots ? parts_->slots->flow(0) : parts_->flow ? &*parts_->flow : nullptr;
    if (flow == nullptr) return {};
    return echolux::flow_scale(view, *flow);
}

void Renderer::look_at_flow(const DisplayedSlots& shown) {
    gpu::reporting("counting speeds", [&] {
        HistogramCounter& counter = parts_->flow_speeds;
        const bool was_running = counter.is_running();
        const std::optional<Histogram>& counted = counter.newest();
        if (was_running && !counter.is_running()) parts_->take_speed(usual_speed(*counted));
        const Scene scene = parts_->scene_of(shown);
        if (scene.flow == nullptr) return;
        const bool is_first = scene.previous_flow == nullptr;
        const VolumeTexture& flow = is_first ? *scene.flow : *scene.previous_flow;
        // Counts partially filled volumes until there is a complete one, then complete ones only.
        const SceneSerials serials{is_first ? shown.newest.serial + 1 : shown.previous->serial + 1,
                                   static_cast<std::uint64_t>(is_first ? shown.newest.filled_to : 0),
                                   parts_->scene_changes};
        if (!counter.is_due(serials)) return;
        const std::array whole{first_slices(flow, is_first ? scene.filled_to : flow.grid().b_scans)};
        parts_->with_chain(shown, [&](const gpu::Chain& chain) { counter.count_speeds(flow, whole, serials, chain); });
    });
}

bool Renderer::looks_at_flow() const {
    return parts_->flow_speeds.is_running();
}

bool Renderer::is_finished(const Drawing& drawing) const {
    return parts_->queue.is_done(drawing.value);
}

void Renderer::wait(const Drawing& drawing) {
    parts_->queue.wait(drawing.value);
}

Image Renderer::read(const Drawing& drawing) {
    return gpu::reporting("reading a picture", [&] {
        if (!parts_->holds(drawing)) {
            throw Error(ErrorCode::bad_setting, "this frame was replaced by later ones", "renderer");
        }
        return gpu::image_of(parts_->read_back, *drawing.image);
    });
}

std::function<std::vector<std::byte>()> Renderer::copy_slot(const DisplayedSlots& shown) {
    return gpu::reporting("reading a volume", [&] {
        const VolumeTexture& texture = parts_->ring().texture(shown.newest.slot);
        const gpu::PendingPixels coming = parts_->with_chain(
            shown, [&](const gpu::Chain& chain) { return parts_->read_back.begin(texture.image(), chain); });
        return [coming, has_wide_codes = is_widened(texture)] {
            const std::span<const std::byte> stored = coming.wait();
            if (!has_wide_codes) return std::vector(stored.begin(), stored.end());
            std::vector<std::byte> codes(stored.size() / 2);
            narrow(codes, stored.data());
            return codes;
        };
    });
}

// ---- Renderer: still pictures at full quality, rendered tile by tile, or begun now and read later while the device
// works on the next ones.

namespace {

// Limits the memory of a tile.
constexpr std::int64_t max_columns = 4096;

constexpr std::size_t parts_of_pixel = 4;

std::size_t bytes_per_pixel(PictureBits bits) {
    return parts_of_pixel * static_cast<std::size_t>(bits) / 8;
}

std::uint16_t code_of(float level) {
    return static_cast<std::uint16_t>(std::lround(65535 * std::clamp(level, 0.0F, 1.0F)));
}

// Converts floats in [0, 1] to 16-bit codes.
void put_codes(std::span<const std::byte> levels, std::byte* codes) {
    for (std::size_t i = 0; i < levels.size() / sizeof(float); ++i) {
        float level = 0;
        std::memcpy(&level, levels.data() + i * sizeof level, sizeof level);
        const std::uint16_t code = code_of(level);
        std::memcpy(codes + i * sizeof code, &code, sizeof code);
    }
}

// Copies the pixels of a tile into rows of the picture's full width. The first row is that of the tile.
void place(std::span<std::byte> rows, std::int64_t width, PictureBits bits, const Region& tile,
           std::span<const std::byte> pixels) {
    const std::size_t of_tile = pixels.size() / index(tile.height);
    const std::size_t of_row = index(width) * bytes_per_pixel(bits);
    std::byte* out = rows.data() + index(tile.left) * bytes_per_pixel(bits);
    for (std::int64_t row = 0; row < tile.height; ++row, out += of_row) {
        const auto from = pixels.subspan(index(row) * of_tile, of_tile);
        if (bits == PictureBits::sixteen)
            put_codes(from, out);
        else
            std::ranges::copy(from, out);
    }
}

// Collects rows of 8 bits into a picture in memory.
class Gathered {
  public:
    explicit Gathered(const View& view) : image_{view.width, view.height, {}} {
        image_.pixels.reserve(index(view.width * view.height) * parts_of_pixel);
    }

    void add(const PictureRows& rows) {
        const auto* first = reinterpret_cast<const std::uint8_t*>(rows.pixels.data());
        image_.pixels.insert(image_.pixels.end(), first, first + rows.pixels.size());
    }

    Image take() { return std::move(image_); }

  private:
    Image image_;
};

// Returns a buffer of the view's size. Waits for pending work before it replaces one of another size.
AccumulationBuffer& accumulation_of(std::optional<AccumulationBuffer>& accumulation, gpu::Queue& queue,
                                    const gpu::Device& device, const View& view) {
    if (accumulation && accumulation->columns() == view.width && accumulation->rows() == view.height)
        return *accumulation;
    queue.wait_for_all();
    accumulation.reset();
    return accumulation.emplace(device, view.width, view.height);
}

// Returns true if the ray caster writes the pixels directly, without an accumulation buffer.
bool is_cast_at_once(const View& view) {
    return passes_when_saved(view) == 1 && view.mode != ViewMode::traced;
}

// Returns the tile with the margin that the denoiser reads, clipped to the picture.
Region with_rim(const Region& tile, const View& view) {
    const std::int64_t left = std::max<std::int64_t>(0, tile.left - filter_reach);
    const std::int64_t top = std::max<std::int64_t>(0, tile.top - filter_reach);
    return {left, top, std::min(view.width, tile.left + tile.width + filter_reach) - left,
            std::min(view.height, tile.top + tile.height + filter_reach) - top};
}

// Returns the rows per tile of traced pictures. Paths of a tile end once the noise is low, so tiles must be independent
// of the device for reproducible pictures.
std::int64_t rows_of_paths(const View& view) {
    constexpr std::int64_t max_pixels = 1 << 22;
    return std::min(view.height, max_pixels / std::min(max_columns, view.width));
}

// Accumulates the passes of a part of a picture.
struct Summing {
    Renderer::Parts& parts;
    const Shot& shot;  // with the requested region
    AccumulationBuffer& accumulation;
    Region region;  // region to cast, including margins
    const std::function<void(std::int64_t passes)>& pause;

    // Casts a pass. Splits long passes and waits for each part, so that cancelling waits for one part only.
    void cast(std::int64_t number, const gpu::Chain& chain) const {
        constexpr double max_part_s = 0.3;  // until a request to cancel takes effect
        Shot pass{.scene = shot.scene, .view = shot.view, .region = region, .pass = {&accumulation, number}};
        const std::int64_t rows = pass.group_rows();
        const std::int64_t at_once = pause ? parts.raycaster.group_rows_within(max_part_s, pass) : rows;
        // Without `pause` the whole pass is submitted at once.
        for (std::int64_t first = 0; first < rows; first += at_once) {
            pass.part = {first, std::min(rows, first + at_once)};
            const CastPicture cast =
                parts.raycaster.cast(pass, gpu::share_of(chain, first == 0, pass.part.end == rows));
            if (at_once >= rows) continue;
            parts.queue.wait(cast.value);
            pause(number);
        }
        if (pause) pause(number + 1);
    }
};

// Casts all passes and resolves them to a picture.
const gpu::DeviceImage& summed_picture(const Summing& summing, const gpu::Chain& chain, PictureDepth depth) {
    const Shot& shot = summing.shot;
    const std::int64_t passes = passes_when_saved(shot.view);
    for (std::int64_t number = 0; number < passes; ++number)
        summing.cast(number, gpu::share_of(chain, number == 0, number + 1 == passes));
    return *summing.parts.resolver
                .resolve(summing.parts.still_pictures, summing.accumulation, 1, shot.region, sheet_of(shot), depth)
                .image;
}

// Casts paths until the noise target or the max number is reached, and resolves them to a picture.
const gpu::DeviceImage& traced_picture(const Summing& summing, const gpu::Chain& chain, PictureDepth depth) {
    Renderer::Parts& parts = summing.parts;
    const Shot& shot = summing.shot;
    Denoiser::Light light;
    for (std::int64_t paths = 1;; ++paths) {
        summing.cast(paths - 1, gpu::share_of(chain, paths == 1, false));
        const bool is_last = paths == shot.view.paths;
        const bool is_judged = is_time_to_judge(shot.view, paths);
        if (!is_last && !is_judged) continue;
        light = parts.denoiser.light(summing.accumulation, shot.view, paths);
        if (is_last) break;
        parts.queue.wait(light.value);
        if (parts.denoiser.noise(summing.accumulation) <= shot.view.noise_target) break;
    }
    parts.queue.submit([](const auto&) {}, gpu::share_of(chain, false, true));
    shared::ToningFrame toning = *toning_of({.scene = shot.scene, .view = shot.view, .pass = {&summing.accumulation}});
    toning.first_ray =
        glm::vec2(glm::dvec2(shot.region.left - summing.region.left, shot.region.top - summing.region.top));
    return *parts.resolver
                .resolve(parts.still_pictures, summing.accumulation, 1, shot.region, sheet_of(shot), depth, toning,
                         light.image)
                .image;
}

const gpu::DeviceImage& picture_of(const Summing& summing, const gpu::Chain& chain, PictureDepth depth) {
    return summing.shot.view.mode == ViewMode::traced ? traced_picture(summing, chain, depth)
                                                      : summed_picture(summing, chain, depth);
}

// Submits a picture without waiting for it.
const gpu::DeviceImage& submitted(Renderer::Parts& parts, const Shot& shot, const gpu::Chain& chain,
                                  const std::function<void()>& pause) {
    if (is_cast_at_once(shot.view)) return *parts.raycaster.cast(shot, chain).image;
    AccumulationBuffer& accumulation = accumulation_of(parts.begun_accumulation, parts.queue, parts.device, shot.view);
    const auto pausing = [&](std::int64_t) {
        if (pause) pause();
    };
    try {
        return picture_of({parts, shot, accumulation, shot.region, pausing}, chain, PictureDepth::codes);
    } catch (...) {
        parts.queue.wait_for_all();
        parts.begun_accumulation.reset();
        throw;
    }
}

}  // namespace

// Returns the number of rows to render at a time. Progress is not reported in between, so the time for them is limited.
std::int64_t Renderer::Parts::rows_at_a_time(const Shot& shot) {
    if (shot.view.mode == ViewMode::traced) return std::min(rows_of_paths(shot.view), shot.region.height);
    constexpr std::int64_t min_rows = 64, max_rows = 1024;
    constexpr double max_silence_s = 0.2;
    const double passes = static_cast<double>(passes_when_saved(shot.view));
    const std::int64_t rows = raycaster.group_rows_within(max_silence_s / passes, shot) * shared::group_height;
    return std::min(std::clamp(rows, min_rows, max_rows), shot.region.height);
}

// Renders a part of a still picture and waits for it: RGBA of 8 bits, or floats depending on `depth`. `pause` is called
// between passes with the number of passes done; it may throw to cancel.
std::span<const std::byte> Renderer::Parts::pixels_of(const Shot& shot, const gpu::Chain& chain, PictureDepth depth,
                                                      const std::function<void(std::int64_t passes)>& pause) {
    if (is_cast_at_once(shot.view) && depth == PictureDepth::codes)
        return read_back.pixels(*raycaster.cast(shot, chain).image);
    const Region region = shot.view.mode == ViewMode::traced ? with_rim(shot.region, shot.view) : shot.region;
    AccumulationBuffer accumulation(device, region.width, region.height);
    try {
        return read_back.pixels(picture_of({*this, shot, accumulation, region, pause}, chain, depth));
    } catch (...) {
        queue.wait_for_all();  // earlier passes use the accumulation buffer
        throw;
    }
}

// Renders the rows of `band` for one eye, tile by tile.
std::vector<std::byte> Renderer::Parts::band_of(const Shot& band, PictureBits bits, const gpu::Chain& chain,
                                                const std::function<void(std::int64_t columns)>& done) {
    const PictureDepth depth = bits == PictureBits::sixteen ? PictureDepth::floats : PictureDepth::codes;
    const std::int64_t passes = passes_when_saved(band.view), width = band.view.width;
    std::vector<std::byte> rows(index(width * band.region.height) * bytes_per_pixel(bits));
    Region tile = band.region;
    for (tile.left = 0; tile.left < width; tile.left += tile.width) {
        tile.width = std::min(max_columns, width - tile.left);
        const auto pause = [&](std::int64_t number) { done(tile.left + tile.width * number / passes); };
        const gpu::Chain part = gpu::share_of(chain, tile.left == 0, tile.left + tile.width == width);
        place(rows, width, bits, tile,
              pixels_of({.scene = band.scene, .view = band.view, .region = tile}, part, depth, pause));
    }
    return rows;
}

void Renderer::Parts::still(const Scene& scene, const View& view, PictureBits bits, const TakeRows& take,
                            const gpu::Chain& chain) {
    const std::vector<View> eyes = eyes_of(view);
    const std::int64_t columns = std::ssize(eyes) * eyes.front().width;
    for (Region band{0, 0, eyes.front().width, 0}; band.top < view.height; band.top += band.height) {
        band.height = view.height - band.top;
        Region tile = band;
        tile.width = std::min(max_columns, band.width);
        band.height = rows_at_a_time({.scene = scene, .view = eyes.front(), .region = tile});
        std::int64_t reported = 0;
        std::vector<std::vector<std::byte>> rows;
        for (const View& eye : eyes) {
            const bool is_first = band.top == 0 && rows.empty();
            const bool is_last = band.top + band.height == view.height && rows.size() + 1 == eyes.size();
            const auto report_share = [&, before = std::ssize(rows) * eye.width](std::int64_t done) {
                const std::int64_t worth = band.height * (before + done) / columns - reported;
                reported += worth;
                take({0, {}, worth});
            };
            rows.push_back(band_of({.scene = scene, .view = eye, .region = band}, bits,
                                   gpu::share_of(chain, is_first, is_last), report_share));
        }
        take({band.height, joined(view, bits, std::move(rows)), band.height - reported});
    }
}

PageCoverage Renderer::render(const View& wanted, PictureBits bits,
                              const std::function<void(const PictureRows& rows)>& take, const Subject& subject) {
    return gpu::reporting("rendering", [&] {
        const View view = parts_->resolved(wanted, subject);
        const PageCoverage pages = parts_->bring_in(view, subject, [&] { take({}); });
        const Scene scene = parts_->scene_of(subject, view);
        parts_->with_chain(subject, [&](const gpu::Chain& chain) { parts_->still(scene, view, bits, take, chain); });
        return pages;
    });
}

Image Renderer::render(const View& wanted, const Subject& subject, const std::function<void(std::int64_t rows)>& done) {
    check_view(wanted);
    Gathered gathered(wanted);
    const auto take = [&](const PictureRows& rows) {
        gathered.add(rows);
        if (done) done(rows.worth);
    };
    const PageCoverage pages = render(wanted, PictureBits::eight, take, subject);
    Image image = gathered.take();
    image.pages = pages;
    return image;
}

std::function<Image()> Renderer::begin(const View& wanted, const Subject& subject, const std::function<void()>& pause) {
    return gpu::reporting("rendering", [&]() -> std::function<Image()> {
        const View view = parts_->resolved(wanted, subject);
        const PageCoverage pages = parts_->bring_in(view, subject);
        const Scene scene = parts_->scene_of(subject, view);
        std::vector<gpu::PendingPixels> coming = parts_->with_chain(subject, [&](const gpu::Chain& chain) {
            std::vector<gpu::PendingPixels> begun;
            for (const std::vector<View> eyes = eyes_of(view); const View& eye : eyes) {
                const gpu::Chain part = gpu::share_of(chain, begun.empty(), begun.size() + 1 == eyes.size());
                begun.push_back(
                    parts_->read_back.begin(submitted(*parts_, {.scene = scene, .view = eye}, part, pause)));
            }
            return begun;
        });
        return [coming = std::move(coming), pages, view] {
            return gpu::reporting("reading a picture", [&] {
                std::vector<std::vector<std::byte>> eyes;
                for (const gpu::PendingPixels& eye : coming) {
                    const std::span<const std::byte> pixels = eye.wait();
                    eyes.emplace_back(pixels.begin(), pixels.end());
                }
                const std::vector<std::byte> pixels = joined(view, PictureBits::eight, std::move(eyes));
                const auto* first = reinterpret_cast<const std::uint8_t*>(pixels.data());
                return Image{view.width, view.height, {first, first + pixels.size()}, pages};
            });
        };
    });
}

}  // namespace echolux
