// The side of the renderer that shows live rings and pictures that follow their view.
#include <cstring>

#include "compute/error.h"
#include "render/renderer_parts.h"

namespace echolux {
namespace {

Image image_of(const gpu::DeviceImage& picture, std::span<const std::byte> pixels) {
    const vk::Extent3D extent = picture.shape().extent;
    Image image{extent.width, extent.height, std::vector<std::uint8_t>(pixels.size())};
    std::memcpy(image.pixels.data(), pixels.data(), pixels.size());
    return image;
}

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
        ++parts_->scene_changes;  // serials of the new slots begin anew
        parts_->slots.reset();
        parts_->slots = std::make_unique<VolumeSlots>(parts_->device, parts_->queue, parts_->brick_builder, wanted);
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

FollowedPicture Renderer::follow(const View& wanted, double now_s) {
    return gpu::reporting("rendering", [&] {
        const View view = Parts::resolved(wanted, parts_->shown_scene(wanted));
        parts_->bring_in(view);
        const Scene scene = parts_->shown_scene(view);
        return followed(parts_->progressive.update(view, scene, scene.serials, now_s));
    });
}

FollowedPicture Renderer::follow(const View& wanted, const ShownSlot& newest, const std::function<ShownSlots()>& shown,
                                 double now_s) {
    return gpu::reporting("rendering", [&] {
        const View view = Parts::resolved(wanted, parts_->scene_of({newest, {}, 0, 0}, wanted));
        const SceneSerials serials = serials_of(newest, parts_->scene_changes);
        ProgressivePicture& progressive = parts_->progressive;
        if (!progressive.is_due(view, serials, now_s)) return followed(progressive.shown());
        const ShownSlots slots = shown();
        const Scene scene = parts_->scene_of(slots, view);
        return parts_->chained(slots, [&](const gpu::Chain& chain) {
            return followed(progressive.update(view, scene, serials, now_s, chain));
        });
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
        const bool is_held = parts_->raycaster.holds({drawing.image, drawing.value}) ||
                             parts_->resolver.holds({drawing.image, drawing.value});
        if (!is_held) {
            throw Error(ErrorCode::bad_setting, "later pictures have taken this one's place", "renderer");
        }
        return image_of(*drawing.image, parts_->read_back.pixels(*drawing.image));
    });
}

std::vector<std::byte> Renderer::read_slot(const ShownSlots& shown) {
    return gpu::reporting("reading a volume", [&] {
        const VolumeTexture& texture = parts_->ring().texture(shown.newest.slot);
        return parts_->chained(shown, [&](const gpu::Chain& chain) {
            const std::span<const std::byte> stored = parts_->read_back.pixels(texture.image(), chain);
            if (!is_widened(texture)) return std::vector(stored.begin(), stored.end());
            std::vector<std::byte> codes(stored.size() / 2);
            narrow(codes, stored.data());
            return codes;
        });
    });
}

}  // namespace echolux
