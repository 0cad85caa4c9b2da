// Renderer: pictures on the device for windows and live displays, and measurements.
#include <array>

#include "compute/error.h"
#include "render/frame/parts.h"
#include "render/renderer_parts.h"
#include "render/slots/flow_texture.h"
#include "render/slots/upload.h"

namespace echolux {
namespace {

FollowedPicture followed_picture(const ShownPicture& shown) {
    return {{shown.picture.image, shown.picture.value}, shown.pitch, shown.passes, shown.is_final};
}

VoxelBox first_slices(const VolumeTexture& texture, std::int64_t slices) {
    return {{}, {texture.grid().depth, texture.grid().a_scans, slices}};
}

}  // namespace

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

FollowedPicture Renderer::follow(const View& wanted, double now_s, std::size_t pane, const Subject& subject) {
    return gpu::reporting("rendering", [&] {
        const View view = parts_->resolved(wanted, subject);
        ProgressivePicture& progressive = parts_->pane(pane);
        const ShownSlots* shown = subject.slots();
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
            throw Error(ErrorCode::bad_setting, "a volume that is not whole yet is not traced", "view.mode");
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

void Renderer::look_at_flow(const ShownSlots& shown) {
    gpu::reporting("counting speeds", [&] {
        HistogramCounter& counter = parts_->flow_speeds;
        const bool was_under_way = counter.is_under_way();
        const std::optional<Histogram>& counted = counter.newest();
        if (was_under_way && !counter.is_under_way()) parts_->take_speed(usual_speed(*counted));
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
    return parts_->flow_speeds.is_under_way();
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
            throw Error(ErrorCode::bad_setting, "this picture was replaced by later ones", "renderer");
        }
        return parts_->read(*drawing.image);
    });
}

std::function<std::vector<std::byte>()> Renderer::copy_slot(const ShownSlots& shown) {
    return gpu::reporting("reading a volume", [&] {
        const VolumeTexture& texture = parts_->ring().texture(shown.newest.slot);
        const gpu::ComingPixels coming = parts_->with_chain(
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
