#include "render/offscreen.h"

#include <cstring>
#include <optional>
#include <utility>

#include "compute/error.h"
#include "render/renderer_parts.h"

namespace echolux {
namespace {

// Of what is cast at a time: bounds the memory that it takes.
constexpr std::int64_t most_columns = 4096;

void place(Image& image, const Region& tile, std::span<const std::byte> pixels) {
    const auto bytes = static_cast<std::size_t>(tile.width * 4);
    for (std::int64_t row = 0; row < tile.height; ++row) {
        std::memcpy(image.pixels.data() + ((tile.top + row) * image.width + tile.left) * 4,
                    pixels.data() + static_cast<std::size_t>(row) * bytes, bytes);
    }
}

}  // namespace

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
    gpu::reporting("uploading the volume", [&] { parts_->set_whole(*voxels_in_memory(grid, voxels), {}); });
}

void Renderer::next_volume(const VolumeGrid& grid, const void* voxels) {
    gpu::reporting("uploading the volume", [&] {
        std::optional<ValueRange> chosen;
        if (parts_->volume) chosen = parts_->volume->range(RangeSource::fixed);
        parts_->set_whole(*voxels_in_memory(grid, voxels), chosen);
    });
}

void Renderer::set_volume(std::shared_ptr<const VoxelSource> source,
                          const std::function<void(std::int64_t voxels)>& done) {
    gpu::reporting("uploading the volume", [&] {
        if (!parts_->is_whole(source->grid())) return parts_->set_pages(std::move(source), done);
        parts_->set_whole(*source, {});
        if (done) done(source->grid().voxels());
    });
}

bool Renderer::is_in_pages() const {
    return parts_->paged != nullptr;
}

TransferFunction Renderer::transfer_function(const View& view) const {
    check_view(view);
    const Scene scene = parts_->shown_scene(view);
    const VolumeTexture& volume = scene.volume;
    return echolux::transfer_function(view, volume.grid(), volume.range(view.range));
}

void Renderer::set_flow(const VolumeGrid& grid, const void* voxels) {
    gpu::reporting("uploading the flow", [&] {
        check_flow(grid, parts_->whole_scene().volume.grid());
        VolumeTexture flow = flow_texture(parts_->device, parts_->queue, parts_->brick_builder, grid, voxels);
        parts_->queue.wait_for_all();  // pictures of the old one
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
        parts_->volume.reset();
        parts_->paged.reset();
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
        parts_->queue.wait_for_all();  // pictures of the old ones
        parts_->heights.reset();
        if (texture) parts_->heights.emplace(std::move(*texture));
        ++parts_->scene_changes;
    });
}

void Renderer::set_poses(const std::vector<BScanPose>& poses) {
    parts_->poses = poses;
    ++parts_->scene_changes;
}

Image Renderer::Parts::still(const Scene& scene, const View& view, const std::function<void(std::int64_t rows)>& done,
                             const gpu::Chain& chain) {
    Image image{view.width, view.height,
                std::vector<std::uint8_t>(static_cast<std::size_t>(view.width * view.height * 4))};
    bool is_first = true;
    for (Region tile{0, 0, 0, 0}; tile.top < view.height; tile.top += tile.height) {
        tile.height = view.height - tile.top;
        tile.width = std::min(most_columns, view.width);
        tile.height = rows_at_a_time({.scene = scene, .view = view, .region = tile});
        for (tile.left = 0; tile.left < view.width; tile.left += tile.width) {
            tile.width = std::min(most_columns, view.width - tile.left);
            const bool is_last = tile.top + tile.height == view.height && tile.left + tile.width == view.width;
            place(image, tile,
                  pixels_of({.scene = scene, .view = view, .region = tile},
                            share_of(chain, std::exchange(is_first, false), is_last)));
        }
        if (done) done(tile.height);
    }
    return image;
}

Image Renderer::render(const View& wanted, const std::function<void(std::int64_t rows)>& done) {
    return gpu::reporting("rendering", [&] {
        const View view = Parts::resolved(wanted, parts_->shown_scene(wanted));
        const PagesShown pages = parts_->bring_in(view, [&] {
            if (done) done(0);
        });
        Image image = parts_->still(parts_->shown_scene(view), view, done);
        image.pages = pages;
        return image;
    });
}

Image Renderer::render(const View& wanted, const ShownSlots& shown) {
    return gpu::reporting("rendering", [&] {
        const Scene scene = parts_->scene_of(shown, wanted);
        const View view = Parts::resolved(wanted, scene);
        return parts_->chained(shown, [&](const gpu::Chain& chain) { return parts_->still(scene, view, {}, chain); });
    });
}

std::vector<RayMeasure> Renderer::measure(const View& wanted) {
    return gpu::reporting("measuring rays", [&] {
        const View view = Parts::resolved(wanted, parts_->shown_scene(wanted));
        parts_->bring_in(view);
        const Scene scene = parts_->shown_scene(view);
        return parts_->measures({.scene = scene, .view = view, .output = RayOutput::measures});
    });
}

std::optional<Probe> Renderer::probe(const View& wanted, std::int64_t x, std::int64_t y) {
    return gpu::reporting("probing", [&] {
        const View view = Parts::resolved(wanted, parts_->shown_scene(wanted));
        check_pixel(view, x, y);
        if (parts_->paged) parts_->paged->bring_in_beside_panes(view);
        return parts_->probe(parts_->shown_scene(view), view, x, y);
    });
}

std::optional<Probe> Renderer::probe(const View& wanted, std::int64_t x, std::int64_t y, const ShownSlots& shown) {
    return gpu::reporting("probing", [&] {
        const Scene scene = parts_->scene_of(shown, wanted);
        const View view = Parts::resolved(wanted, scene);
        check_pixel(view, x, y);
        return parts_->chained(shown, [&](const gpu::Chain& chain) { return parts_->probe(scene, view, x, y, chain); });
    });
}

std::optional<double> Renderer::seconds_for(const View& wanted, VolumeState state) {
    return gpu::reporting("timing a picture", [&] {
        const Scene scene = parts_->shown_scene(wanted);
        const View view = Parts::resolved(wanted, scene);
        if (state == VolumeState::changing && scene.pages != nullptr) {
            throw Error(ErrorCode::bad_setting, "a volume in pages does not change", "volume", "time it at rest");
        }
        const auto rebuild = [&](BrickEnds ends) {
            return [&, ends](const vk::raii::CommandBuffer& commands) {
                parts_->brick_builder.record(commands, scene.volume.bricks(), scene.volume.grid().b_scans, ends);
                gpu::record_order(commands);
            };
        };
        parts_->bring_in(view);
        gpu::Chain chain;
        if (state == VolumeState::changing) chain.before = rebuild(BrickEnds::largest);
        const CastPicture picture = parts_->raycaster.cast({.scene = scene, .view = view}, chain);
        parts_->queue.wait(picture.value);
        if (state == VolumeState::changing) parts_->queue.run(rebuild(BrickEnds::both));
        return picture.stopwatch->seconds();
    });
}

std::vector<double> Renderer::texture_rates(int repetitions) {
    return gpu::reporting("measuring the texture unit",
                          [&] { return echolux::texture_rates(parts_->device, parts_->queue, repetitions); });
}

std::int64_t Renderer::statistics_read_back() const {
    return parts_->read_back.statistics_read();
}

std::int64_t Renderer::bytes_read_back() const {
    return parts_->read_back.bytes_read();
}

}  // namespace echolux
