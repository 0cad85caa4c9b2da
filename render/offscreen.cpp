#include "render/offscreen.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "compute/error.h"
#include "render/renderer_parts.h"

namespace echolux {
namespace {

// Of what is cast at a time: bounds the memory that it takes.
constexpr std::int64_t max_columns = 4096;

constexpr std::size_t channels = 4;

std::size_t bytes_per_pixel(PictureBits bits) {
    return channels * static_cast<std::size_t>(bits) / 8;
}

std::uint16_t code_of(float level) {
    return static_cast<std::uint16_t>(std::lround(65535 * std::clamp(level, 0.0F, 1.0F)));
}

// A row of floats as 16-bit codes.
void put_codes(std::span<const std::byte> levels, std::byte* codes) {
    for (std::size_t i = 0; i < levels.size() / sizeof(float); ++i) {
        float level = 0;
        std::memcpy(&level, levels.data() + i * sizeof level, sizeof level);
        const std::uint16_t code = code_of(level);
        std::memcpy(codes + i * sizeof code, &code, sizeof code);
    }
}

// The pixels of a tile into rows of the whole width, of which the first is the tile's.
void place(std::span<std::byte> rows, std::int64_t width, PictureBits bits, const Region& tile,
           std::span<const std::byte> pixels) {
    const std::size_t of_tile = pixels.size() / static_cast<std::size_t>(tile.height);
    const std::size_t of_row = static_cast<std::size_t>(width) * bytes_per_pixel(bits);
    std::byte* out = rows.data() + static_cast<std::size_t>(tile.left) * bytes_per_pixel(bits);
    for (std::int64_t row = 0; row < tile.height; ++row, out += of_row) {
        const auto from = pixels.subspan(static_cast<std::size_t>(row) * of_tile, of_tile);
        if (bits == PictureBits::sixteen)
            put_codes(from, out);
        else
            std::ranges::copy(from, out);
    }
}

// Gathers rows of 8 bits to a picture in memory.
class Gathered {
  public:
    explicit Gathered(const View& view) : image_{view.width, view.height, {}} {
        image_.pixels.reserve(static_cast<std::size_t>(view.width * view.height) * channels);
    }

    void add(const PictureRows& rows) {
        const auto* first = reinterpret_cast<const std::uint8_t*>(rows.pixels.data());
        image_.pixels.insert(image_.pixels.end(), first, first + rows.pixels.size());
    }

    Image take() { return std::move(image_); }

  private:
    Image image_;
};

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
    return parts_->paged() != nullptr;
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

void Renderer::Parts::still(const Scene& scene, const View& view, PictureBits bits, const TakeRows& take,
                            const gpu::Chain& chain) {
    const PictureDepth depth = bits == PictureBits::sixteen ? PictureDepth::floats : PictureDepth::codes;
    std::vector<std::byte> rows;
    bool is_first = true;
    for (Region tile{0, 0, 0, 0}; tile.top < view.height; tile.top += tile.height) {
        tile.height = view.height - tile.top;
        tile.width = std::min(max_columns, view.width);
        tile.height = rows_at_a_time({.scene = scene, .view = view, .region = tile});
        rows.resize(static_cast<std::size_t>(view.width * tile.height) * bytes_per_pixel(bits));
        for (tile.left = 0; tile.left < view.width; tile.left += tile.width) {
            tile.width = std::min(max_columns, view.width - tile.left);
            const bool is_last = tile.top + tile.height == view.height && tile.left + tile.width == view.width;
            const Shot shot{.scene = scene, .view = view, .region = tile};
            place(rows, view.width, bits, tile,
                  pixels_of(shot, share_of(chain, std::exchange(is_first, false), is_last), depth, [&] { take({}); }));
        }
        take({tile.height, rows});
    }
}

PagesShown Renderer::render(const View& wanted, PictureBits bits,
                            const std::function<void(const PictureRows& rows)>& take) {
    return gpu::reporting("rendering", [&] {
        const View view = Parts::resolved(wanted, parts_->shown_scene(wanted));
        const PagesShown pages = parts_->bring_in(view, [&] { take({}); });
        parts_->still(parts_->shown_scene(view), view, bits, take);
        return pages;
    });
}

Image Renderer::render(const View& wanted, const std::function<void(std::int64_t rows)>& done) {
    check_view(wanted);
    Gathered gathered(wanted);
    const PagesShown pages = render(wanted, PictureBits::eight, [&](const PictureRows& rows) {
        gathered.add(rows);
        if (done) done(rows.count);
    });
    Image image = gathered.take();
    image.pages = pages;
    return image;
}

Image Renderer::render(const View& wanted, const ShownSlots& shown) {
    return gpu::reporting("rendering", [&] {
        const Scene scene = parts_->scene_of(shown, wanted);
        const View view = Parts::resolved(wanted, scene);
        Gathered gathered(view);
        parts_->chained(shown, [&](const gpu::Chain& chain) {
            parts_->still(
                scene, view, PictureBits::eight, [&](const PictureRows& rows) { gathered.add(rows); }, chain);
        });
        return gathered.take();
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
        if (parts_->paged()) parts_->paged()->bring_in_beside_panes(view);
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
