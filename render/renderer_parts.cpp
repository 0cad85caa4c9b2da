#include "render/renderer_parts.h"

#include <algorithm>
#include <cstring>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "render/channel_curve.h"
#include "render/section.h"
#include "render/slots/flow_texture.h"
#include "render/slots/upload.h"

namespace echolux {

Renderer::Parts::Parts(const DeviceChoice& choice)
    : limits(choice.volume_limits), device(choice), queue(device), read_back(device, queue), brick_builder(device),
      raycaster(device, queue), resolver(device, queue), denoiser(device, queue, read_back), still_pictures(device),
      histograms(device, queue, read_back), plane_histograms(device, queue, read_back),
      flow_speeds(device, queue, read_back), channel_textures(device, queue, brick_builder) {}

VolumeSlots& Renderer::Parts::ring() {
    if (!slots) throw Error(ErrorCode::bad_setting, "there is no ring to show", "renderer", "make its slots first");
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
    } else if (view.show == Shown::volume) {
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
    const ShownSlots* shown = subject.slots();
    const bool is_partial = shown != nullptr && shown->newest.filled_to < grid.b_scans;
    if (is_partial) resolved.mode = mode_while_cast(resolved);
    return with_curve_of_channel(std::move(resolved));
}

PagesShown Renderer::Parts::bring_in(const View& view, const Subject& subject, const std::function<void()>& pause) {
    PagedVolume* of_pages = paged(subject);
    return of_pages != nullptr ? of_pages->bring_in(view, pause) : PagesShown{};
}

Scene Renderer::Parts::scene_of_volume() {
    const VolumeTexture& texture = texture_of({});
    const PagedVolume* of_pages = paged({});
    Scene scene = of_pages != nullptr ? Scene(*of_pages) : Scene(texture);
    scene.serials = {0, of_pages != nullptr ? of_pages->changes() : 0, scene_changes};
    if (flow) scene.flow = &*flow;
    return scene;
}

Scene Renderer::Parts::scene_of_slots(const ShownSlots& shown) {
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
    if (view.flow_shown == FlowShown::hidden) scene.flow = scene.previous_flow = nullptr;
    if (view.flow_shown != FlowShown::alone || scene.flow == nullptr) return with_channels(std::move(scene), view);
    if (is_phasor(scene.flow->grid())) {
        throw Error(ErrorCode::bad_setting, "phasors are not shown alone", "view.flow_shown",
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
    const VolumeTexture& volume = first != nullptr ? channel_textures.of(*first) : scene.volume;
    Scene together = first != nullptr ? Scene(volume) : scene;
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
    const VolumeTexture* flow = slots ? slots->flow(0) : nullptr;
    if (flow == nullptr || !usual || !(*usual > 0)) return;
    if (flow_speed && *usual <= *flow_speed && *usual * too_wide > *flow_speed) return;
    flow_speed = *usual;
    slots->set_flow_range(flow_range_to(flow->grid(), *usual));
    ++scene_changes;  // redraws finished pictures
}

// Serials of slots start at 1 because the volume has serial 0.
SceneSerials Renderer::Parts::serials_of(const Subject& subject, std::uint64_t changes) const {
    return {subject.slots() != nullptr ? subject.slots()->newest.serial + 1 : 0, changes, scene_changes};
}

std::vector<RayMeasure> Renderer::Parts::measures(const Shot& shot, const gpu::Chain& chain) {
    const CastPicture picture = raycaster.cast(shot, chain);
    const std::span<const std::byte> pixels = read_back.pixels(*picture.image);
    std::vector<RayMeasure> measures(static_cast<std::size_t>(shot.region.width * shot.region.height));
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
        std::vector<PathCounts> counts(static_cast<std::size_t>(view.width * view.height));
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

Image Renderer::Parts::read(const gpu::DeviceImage& picture) {
    const std::span<const std::byte> pixels = read_back.pixels(picture);
    const vk::Extent3D extent = picture.shape().extent;
    Image image{extent.width, extent.height, std::vector<std::uint8_t>(pixels.size())};
    std::memcpy(image.pixels.data(), pixels.data(), pixels.size());
    return image;
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
    const auto let_go = [this](PreparedVolume* prepared) {
        queue.wait_or_be_lost();
        delete prepared;
    };
    return {new PreparedVolume{std::move(whole), std::move(pages)}, let_go};
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

}  // namespace echolux
