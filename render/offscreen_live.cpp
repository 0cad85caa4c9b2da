// The side of the renderer that shows live rings and pictures that follow their view.
#include <array>
#include "compute/error.h"
#include "render/renderer_parts.h"

namespace echolux {
namespace {

FollowedPicture followed(const ShownPicture& shown) {
    return {{shown.picture.image, shown.picture.value}, shown.pitch, shown.passes, shown.is_final};
}

// Tells apart whatever a live ring may show, and that from volumes of files, whose scenes' first serial is 0.
SceneSerials serials_of(const ShownSlot& newest, std::uint64_t scene_changes) {
    return {newest.serial + 1, static_cast<std::uint64_t>(newest.filled_to), scene_changes};
}

}  // namespace

SlotWriter& Renderer::make_slots(const SlotsWanted& wanted) {
    return gpu::reporting("making the slots of a live ring", [&]() -> SlotWriter& {
        check_structure(wanted.grid);
        if (wanted.flow) check_flow(*wanted.flow, wanted.grid);
        auto made = std::make_unique<VolumeSlots>(parts_->device, parts_->queue, parts_->brick_builder, wanted);
        ++parts_->scene_changes;  // serials of the new slots begin anew
        parts_->slots = std::move(made);
        parts_->slots->watch_waits();
        return *parts_->slots;
    });
}

Drawing Renderer::draw(const View& wanted, const ShownSlots& shown) {
    return gpu::reporting("rendering", [&] {
        const Scene scene = parts_->scene_of(shown, wanted);
        const View view = Parts::resolved(wanted, scene);
        return parts_->chained(shown, [&](const gpu::Chain& chain) {
            const CastPicture picture = parts_->raycaster.cast({.scene = scene, .view = view}, chain);
            return Drawing{picture.image, picture.value};
        });
    });
}

FollowedPicture Renderer::follow(const View& wanted, double now_s, std::size_t pane) {
    return gpu::reporting("rendering", [&] {
        const View view = Parts::resolved(wanted, parts_->shown_scene(wanted));
        ProgressivePicture& progressive = parts_->pane(pane);
        PagedVolume* paged = parts_->paged();
        const std::uint64_t pages = paged ? paged->bring_in_for(pane, view, !progressive.is_of(view)) : 0;
        const SceneSerials serials{0, pages, parts_->scene_changes};
        return followed(progressive.update(view, parts_->shown_scene(view), serials, now_s));
    });
}

FollowedPicture Renderer::follow(const View& wanted, const ShownSlot& newest, const std::function<ShownSlots()>& shown,
                                 double now_s, std::size_t pane) {
    return gpu::reporting("rendering", [&] {
        const View view = Parts::resolved(wanted, parts_->scene_of({newest, {}, 0, 0}, wanted));
        const SceneSerials serials = serials_of(newest, parts_->scene_changes);
        ProgressivePicture& progressive = parts_->pane(pane);
        if (!progressive.is_due(view, serials, now_s)) return followed(progressive.shown());
        const ShownSlots slots = shown();
        const Scene scene = parts_->scene_of(slots, view);
        return parts_->chained(slots, [&](const gpu::Chain& chain) {
            return followed(progressive.update(view, scene, serials, now_s, chain));
        });
    });
}

std::optional<Histogram> Renderer::histogram() {
    return gpu::reporting("counting values", [&]() -> std::optional<Histogram> {
        if (!parts_->volume) return {};
        HistogramCounter& counter = parts_->histograms;
        counter.newest();
        const SceneSerials serials{0, 0, parts_->scene_changes};
        if (counter.is_due(serials)) {
            const Scene scene = parts_->whole_scene();
            const auto boxes = scene.pages != nullptr
                                   ? scene.pages->coarse_boxes()
                                   : std::vector{Parts::box_of(scene.volume, scene.volume.grid().b_scans)};
            counter.count(scene.volume, boxes, serials);
        }
        return counter.newest();
    });
}

// Of a volume that is not filled yet what is there is counted only where there is no whole one before it.
std::optional<Histogram> Renderer::histogram(const ShownSlot& newest, const std::function<ShownSlots()>& shown) {
    return gpu::reporting("counting values", [&]() -> std::optional<Histogram> {
        HistogramCounter& counter = parts_->histograms;
        counter.newest();
        const SceneSerials serials{newest.serial + 1, 0, parts_->scene_changes};
        if (counter.is_due(serials)) {
            const ShownSlots slots = shown();
            const ShownSlot& counted = slots.previous ? *slots.previous : slots.newest;
            const VolumeTexture& texture = parts_->ring().texture(counted.slot);
            const std::array boxes{Parts::box_of(texture, counted.filled_to)};
            parts_->chained(slots, [&](const gpu::Chain& chain) { counter.count(texture, boxes, serials, chain); });
        }
        return counter.newest();
    });
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
            throw Error(ErrorCode::bad_setting, "later pictures have taken this one's place", "renderer");
        }
        return parts_->read(*drawing.image);
    });
}

std::function<std::vector<std::byte>()> Renderer::copy_slot(const ShownSlots& shown) {
    return gpu::reporting("reading a volume", [&] {
        const VolumeTexture& texture = parts_->ring().texture(shown.newest.slot);
        const gpu::ComingPixels coming = parts_->chained(
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

}  // namespace echolux
