#include "render/renderer.h"

#include <cstring>
#include <utility>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "render/renderer_parts.h"
#include "render/section.h"
#include "render/slots/flow_texture.h"
#include "render/slots/height_texture.h"
#include "render/slots/upload.h"
#include "render/texture_rate.h"

namespace echolux {

Renderer::Renderer(const DeviceChoice& choice)
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

LiveSlots Renderer::make_slots(const SlotsWanted& wanted) {
    return gpu::reporting("making the slots of a live ring", [&] {
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

void Renderer::give_up_writing(std::uint64_t value) noexcept {
    if (parts_->slots) parts_->slots->give_up_writing(value);
}

void Renderer::give_up_reading(std::uint64_t value) noexcept {
    if (parts_->slots) parts_->slots->give_up_reading(value);
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
        parts_->peaks.emplace(KeptPeaks{std::move(buffer), std::move(for_bricks)});
        return true;
    });
}

std::optional<double> Renderer::seconds_for(const View& wanted, VolumeState state) {
    return gpu::reporting("timing a picture", [&] {
        const View view = parts_->resolved(wanted, {});
        if (state == VolumeState::changing) ++parts_->scene_changes;
        const Scene scene = parts_->scene_of({}, view);
        if (state == VolumeState::changing && scene.pages != nullptr) {
            throw Error(ErrorCode::bad_setting, "a volume in pages does not change", "volume", "time it at rest");
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

std::int64_t Renderer::statistics_read_back() const {
    return parts_->read_back.statistics_read();
}

std::int64_t Renderer::bytes_read_back() const {
    return parts_->read_back.bytes_read();
}

}  // namespace echolux
