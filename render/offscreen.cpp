#include "render/offscreen.h"

#include <cstring>
#include <optional>

#include "compute/error.h"
#include "render/bricks.h"
#include "render/raycaster.h"
#include "render/slots/upload.h"
#include "render/slots/volume_slots.h"
#include "render/vk/read_back.h"

namespace echolux {
namespace {

constexpr std::int64_t band_rows = 64;  // of a picture that is cast at a time

Image image_of(const gpu::DeviceImage& picture, std::span<const std::byte> pixels) {
    const vk::Extent3D extent = picture.shape().extent;
    Image image{extent.width, extent.height, std::vector<std::uint8_t>(pixels.size())};
    std::memcpy(image.pixels.data(), pixels.data(), pixels.size());
    return image;
}

}  // namespace

struct Renderer::Parts {
    explicit Parts(const DeviceChoice& choice)
        : limits(choice.volume_limits), device(choice), queue(device), read_back(device, queue), brick_builder(device),
          raycaster(device, queue) {}

    Scene shown_scene() const {
        if (!volume && !paged) {
            throw Error(ErrorCode::bad_setting, "there is no volume to show", "renderer", "set one first");
        }
        Scene scene = paged ? Scene(*paged) : Scene(*volume);
        scene.serials = {volumes_set, paged ? paged->changes() : 0};
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

    Scene scene_of(const ShownSlots& shown) {
        const VolumeTexture* previous = shown.previous ? &ring().texture(shown.previous->slot) : nullptr;
        Scene scene(ring().texture(shown.newest.slot), shown.newest.filled_to, previous);
        scene.serials = {shown.newest.serial, shown.previous ? shown.previous->serial : 0};
        return scene;
    }

    // `chosen` is the range of the first volume of a series. Sizes are checked before a voxel is read.
    void set_whole(const VoxelSource& source, const std::optional<ValueRange>& chosen) {
        VolumeTexture texture(device, source.grid(), {});
        const ValueRange percentiles = source.range();
        texture.set_range(percentiles, chosen.value_or(percentiles));
        upload(device, queue, brick_builder, texture, source);
        queue.wait_for_all();  // pictures of the old one
        volume.emplace(std::move(texture));
        paged.reset();
        ++volumes_set;
    }

    void set_pages(std::shared_ptr<const VoxelSource> source, const std::function<void(std::int64_t voxels)>& done) {
        auto pages = std::make_unique<PagedVolume>(device, queue, brick_builder, limits, std::move(source), done);
        queue.wait_for_all();
        paged = std::move(pages);
        volume.reset();
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
    std::optional<VolumeTexture> volume;  // or
    std::unique_ptr<PagedVolume> paged;
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

// Band by band, each finished before the next begins: no dispatch is long, and no picture too large for the device.
Image Renderer::render(const View& view, const std::function<void(std::int64_t rows)>& done) {
    return gpu::reporting("rendering", [&] {
        check_view(view);
        Image image{view.width, view.height, {}};
        image.pages = parts_->bring_in(view, [&] {
            if (done) done(0);
        });
        const Scene scene = parts_->shown_scene();
        for (std::int64_t top = 0; top < view.height; top += band_rows) {
            const std::int64_t rows = std::min(band_rows, view.height - top);
            const Shot band{.scene = scene, .view = view, .region = {0, top, view.width, rows}};
            const CastPicture picture = parts_->raycaster.cast(band);
            const std::span<const std::byte> pixels = parts_->read_back.pixels(*picture.image);
            const auto* bytes = reinterpret_cast<const std::uint8_t*>(pixels.data());
            image.pixels.insert(image.pixels.end(), bytes, bytes + pixels.size());
            if (done) done(rows);
        }
        return image;
    });
}

std::vector<RayMeasure> Renderer::measure(const View& view) {
    return gpu::reporting("measuring rays", [&] {
        check_view(view);
        parts_->bring_in(view);
        const Scene scene = parts_->shown_scene();
        const CastPicture picture =
            parts_->raycaster.cast({.scene = scene, .view = view, .output = RayOutput::measures});
        const std::span<const std::byte> pixels = parts_->read_back.pixels(*picture.image);
        std::vector<RayMeasure> measures(static_cast<std::size_t>(view.width * view.height));
        static_assert(sizeof(RayMeasure) == shared::measure_pixels * sizeof(shared::vec4));
        std::memcpy(measures.data(), pixels.data(), measures.size() * sizeof(RayMeasure));
        return measures;
    });
}

SlotWriter& Renderer::make_slots(const SlotsWanted& wanted) {
    return gpu::reporting("making the slots of a live ring", [&]() -> SlotWriter& {
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

bool Renderer::is_finished(const Drawing& drawing) const {
    return parts_->queue.is_done(drawing.value);
}

void Renderer::wait(const Drawing& drawing) {
    parts_->queue.wait(drawing.value);
}

Image Renderer::read(const Drawing& drawing) {
    return gpu::reporting("reading a picture", [&] {
        if (!parts_->raycaster.holds({drawing.image, drawing.value})) {
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
