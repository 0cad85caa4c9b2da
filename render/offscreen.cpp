#include "render/offscreen.h"

#include <cstring>
#include <optional>

#include "compute/error.h"
#include "render/bricks.h"
#include "render/probe.h"
#include "render/progressive.h"
#include "render/raycaster.h"
#include "render/resolver.h"
#include "render/slots/flow_texture.h"
#include "render/slots/height_texture.h"
#include "render/slots/upload.h"
#include "render/slots/volume_slots.h"
#include "render/texture_rate.h"
#include "render/vk/read_back.h"

namespace echolux {
namespace {

// Of what is cast at a time: bounds for the memory, and for how long nobody hears of progress.
constexpr std::int64_t most_columns = 4096, least_rows = 64, most_rows = 1024;
constexpr double patience_s = 0.2;

Image image_of(const gpu::DeviceImage& picture, std::span<const std::byte> pixels) {
    const vk::Extent3D extent = picture.shape().extent;
    Image image{extent.width, extent.height, std::vector<std::uint8_t>(pixels.size())};
    std::memcpy(image.pixels.data(), pixels.data(), pixels.size());
    return image;
}

void place(Image& image, const Region& tile, std::span<const std::byte> pixels) {
    const auto bytes = static_cast<std::size_t>(tile.width * 4);
    for (std::int64_t row = 0; row < tile.height; ++row) {
        std::memcpy(image.pixels.data() + ((tile.top + row) * image.width + tile.left) * 4,
                    pixels.data() + static_cast<std::size_t>(row) * bytes, bytes);
    }
}

FollowedPicture followed(const ShownPicture& shown) {
    return {{shown.picture.image, shown.picture.value}, shown.pitch, shown.passes, shown.is_final};
}

// Tells apart whatever a live ring may show. Volumes of files have small serials, these have the highest bit.
std::uint64_t serial_of(const ShownSlot& newest) {
    return std::uint64_t{1} << 63 | newest.serial << 20 | static_cast<std::uint64_t>(newest.filled_to);
}

}  // namespace

struct Renderer::Parts {
    explicit Parts(const DeviceChoice& choice)
        : limits(choice.volume_limits), device(choice), queue(device), read_back(device, queue), brick_builder(device),
          raycaster(device, queue), resolver(device, queue), progressive(device, queue, raycaster, resolver) {}

    ~Parts() {
        try {
            queue.wait_for_all();          // what is under way uses all of this
        } catch (const std::exception&) {  // a lost device uses nothing any more
        }
    }

    Scene shown_scene() const {
        if (!volume && !paged) {
            throw Error(ErrorCode::bad_setting, "there is no volume to show", "renderer", "set one first");
        }
        Scene scene = paged ? Scene(*paged) : Scene(*volume);
        scene.serials = {volumes_set, paged ? paged->changes() : 0};
        if (flow) scene.flow = &*flow;
        if (heights) scene.heights = &*heights;
        return scene;
    }

    // What a picture of `view` needs of a large volume is there when this returns, as far as it can be.
    PagesShown bring_in(const View& view, const std::function<void()>& pause = {}) {
        return paged ? paged->bring_in(view, pause) : PagesShown{};
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

    // The pixels of a part of a still picture, finished.
    std::span<const std::byte> pixels_of(const Shot& shot) {
        if (shot.view.samples == 1) return read_back.pixels(*raycaster.cast(shot).image);
        Film film(device, shot.region.width, shot.region.height);
        for (std::int64_t number = 0; number < shot.view.samples; ++number) {
            raycaster.cast({.scene = shot.scene, .view = shot.view, .region = shot.region, .pass = {&film, number}});
        }
        return read_back.pixels(*resolver.resolve(film, 1, shot.region, sheet_of(shot)).image);
    }

    // As many rows of the region as are cast soon enough.
    std::int64_t rows_at_a_time(const Shot& shot) {
        const double passes = static_cast<double>(shot.view.samples);
        const std::int64_t rows = raycaster.group_rows_within(patience_s / passes, shot) * shared::group_height;
        return std::min(std::clamp(rows, least_rows, most_rows), shot.region.height);
    }

    Scene scene_of(const ShownSlots& shown) {
        const VolumeTexture* previous = shown.previous ? &ring().texture(shown.previous->slot) : nullptr;
        Scene scene(ring().texture(shown.newest.slot), shown.newest.filled_to, previous);
        scene.serials = {shown.newest.serial, shown.previous ? shown.previous->serial : 0};
        if (heights) scene.heights = &*heights;
        return scene;
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
        return probe_of(measures(shot, chain).front(), view, scene.volume.grid(), x, y);
    }

    // `chosen` is the range of the first volume of a series. Sizes are checked before a voxel is read.
    void set_whole(const VoxelSource& source, const std::optional<ValueRange>& chosen) {
        check_structure(source.grid());
        VolumeTexture texture(device, source.grid(), {});
        const ValueRange percentiles = source.range();
        texture.set_range(percentiles, chosen.value_or(percentiles));
        upload(device, queue, brick_builder, texture, source);
        queue.wait_for_all();  // pictures of the old one
        volume.emplace(std::move(texture));
        paged.reset();
        flow.reset();
        ++volumes_set;
    }

    void set_pages(std::shared_ptr<const VoxelSource> source, const std::function<void(std::int64_t voxels)>& done) {
        auto pages = std::make_unique<PagedVolume>(device, queue, brick_builder, limits, std::move(source), done);
        queue.wait_for_all();
        paged = std::move(pages);
        volume.reset();
        flow.reset();
        ++volumes_set;
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
    ProgressivePicture progressive;
    std::optional<VolumeTexture> volume;  // or
    std::unique_ptr<PagedVolume> paged;
    std::optional<VolumeTexture> flow;  // of the volume
    std::optional<gpu::DeviceImage> heights;
    std::uint64_t volumes_set = 0;
    std::unique_ptr<VolumeSlots> slots;
};

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

TransferFunction Renderer::transfer_function(const View& view) const {
    check_view(view);
    const Scene scene = parts_->shown_scene();
    const VolumeTexture& volume = scene.volume;
    return echolux::transfer_function(view, volume.grid(), volume.range(view.range));
}

void Renderer::set_flow(const VolumeGrid& grid, const void* voxels) {
    gpu::reporting("uploading the flow", [&] {
        check_flow(grid, parts_->shown_scene().volume.grid());
        VolumeTexture flow = flow_texture(parts_->device, parts_->queue, parts_->brick_builder, grid, voxels);
        parts_->queue.wait_for_all();  // pictures of the old one
        parts_->flow.emplace(std::move(flow));
    });
}

void Renderer::clear_flow() {
    parts_->queue.wait_for_all();
    parts_->flow.reset();
}

void Renderer::set_heights(const HeightMaps& maps) {
    gpu::reporting("uploading height maps", [&] {
        check_heights(maps);
        std::optional<gpu::DeviceImage> texture;
        if (!maps.empty()) texture.emplace(height_texture(parts_->device, parts_->queue, maps));
        parts_->queue.wait_for_all();  // pictures of the old ones
        parts_->heights.reset();
        if (texture) parts_->heights.emplace(std::move(*texture));
        ++parts_->volumes_set;  // what was made of the volume was cut by the old ones
    });
}

// Tile by tile, each finished before the next begins: no picture is too large for the device.
Image Renderer::render(const View& view, const std::function<void(std::int64_t rows)>& done) {
    return gpu::reporting("rendering", [&] {
        check_view(view);
        Image image{view.width, view.height,
                    std::vector<std::uint8_t>(static_cast<std::size_t>(view.width * view.height * 4))};
        image.pages = parts_->bring_in(view, [&] {
            if (done) done(0);
        });
        const Scene scene = parts_->shown_scene();
        for (Region tile{0, 0, 0, 0}; tile.top < view.height; tile.top += tile.height) {
            tile.height = view.height - tile.top;
            tile.width = std::min(most_columns, view.width);
            tile.height = parts_->rows_at_a_time({.scene = scene, .view = view, .region = tile});
            for (tile.left = 0; tile.left < view.width; tile.left += tile.width) {
                tile.width = std::min(most_columns, view.width - tile.left);
                place(image, tile, parts_->pixels_of({.scene = scene, .view = view, .region = tile}));
            }
            if (done) done(tile.height);
        }
        return image;
    });
}

std::vector<RayMeasure> Renderer::measure(const View& view) {
    return gpu::reporting("measuring rays", [&] {
        check_view(view);
        parts_->bring_in(view);
        const Scene scene = parts_->shown_scene();
        return parts_->measures({.scene = scene, .view = view, .output = RayOutput::measures});
    });
}

std::optional<Probe> Renderer::probe(const View& view, std::int64_t x, std::int64_t y) {
    return gpu::reporting("probing", [&] {
        check_view(view);
        check_pixel(view, x, y);
        return parts_->probe(parts_->shown_scene(), view, x, y);
    });
}

std::optional<Probe> Renderer::probe(const View& view, std::int64_t x, std::int64_t y, const ShownSlots& shown) {
    return gpu::reporting("probing", [&] {
        check_view(view);
        check_pixel(view, x, y);
        const Scene scene = parts_->scene_of(shown);
        return parts_->chained(shown, [&](const gpu::Chain& chain) { return parts_->probe(scene, view, x, y, chain); });
    });
}

std::optional<double> Renderer::seconds_for(const View& view, VolumeState state) {
    return gpu::reporting("timing a picture", [&] {
        check_view(view);
        const Scene scene = parts_->shown_scene();
        const VolumeTexture& volume = scene.volume;
        gpu::Chain chain;
        if (state == VolumeState::changing) {
            chain.before = [&](const vk::raii::CommandBuffer& commands) {
                parts_->brick_builder.record(commands, volume.bricks(), volume.grid().b_scans, BrickEnds::largest);
            };
        }
        const CastPicture picture = parts_->raycaster.cast({.scene = scene, .view = view}, chain);
        parts_->queue.wait(picture.value);
        return picture.stopwatch->seconds();
    });
}

std::vector<double> Renderer::texture_rates(int repetitions) {
    return gpu::reporting("measuring the texture unit",
                          [&] { return echolux::texture_rates(parts_->device, parts_->queue, repetitions); });
}

SlotWriter& Renderer::make_slots(const SlotsWanted& wanted) {
    return gpu::reporting("making the slots of a live ring", [&]() -> SlotWriter& {
        check_structure(wanted.grid);
        parts_->slots.reset();
        parts_->slots = std::make_unique<VolumeSlots>(parts_->device, parts_->queue, parts_->brick_builder, wanted);
        return *parts_->slots;
    });
}

Drawing Renderer::draw(const View& view, const ShownSlots& shown) {
    return gpu::reporting("rendering", [&] {
        check_view(view);
        const Scene scene = parts_->scene_of(shown);
        return parts_->chained(shown, [&](const gpu::Chain& chain) {
            const CastPicture picture = parts_->raycaster.cast({.scene = scene, .view = view}, chain);
            return Drawing{picture.image, picture.value};
        });
    });
}

FollowedPicture Renderer::follow(const View& view, double now_s) {
    return gpu::reporting("rendering", [&] {
        check_view(view);
        const Scene scene = parts_->shown_scene();
        return followed(parts_->progressive.update(view, scene, parts_->volumes_set, now_s));
    });
}

FollowedPicture Renderer::follow(const View& view, const ShownSlot& newest, const std::function<ShownSlots()>& shown,
                                 double now_s) {
    return gpu::reporting("rendering", [&] {
        check_view(view);
        const std::uint64_t serial = serial_of(newest);
        ProgressivePicture& progressive = parts_->progressive;
        if (!progressive.is_due(view, serial, now_s)) return followed(progressive.shown());
        const ShownSlots slots = shown();
        const Scene scene = parts_->scene_of(slots);
        return parts_->chained(slots, [&](const gpu::Chain& chain) {
            return followed(progressive.update(view, scene, serial, now_s, chain));
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

std::int64_t Renderer::bytes_read_back() const {
    return parts_->read_back.bytes_read();
}

}  // namespace echolux
