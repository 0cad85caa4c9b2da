#include "render/offscreen.h"

#include <cstring>
#include <optional>

#include "compute/error.h"
#include "render/bricks.h"
#include "render/raycaster.h"
#include "render/vk/read_back.h"

namespace echolux {

struct Renderer::Parts {
    explicit Parts(const DeviceChoice& choice)
        : device(choice), queue(device), read_back(device, queue), brick_builder(device, queue),
          raycaster(device, queue) {}

    std::span<const std::byte> pixels(const View& view, RayOutput output, const BandDone& done = {}) {
        check_view(view);
        if (!slot) throw Error(ErrorCode::bad_setting, "there is no volume to show", "renderer", "set one first");
        return read_back.pixels(raycaster.cast(slot->volume, slot->bricks, view, output, done));
    }

    gpu::Device device;
    gpu::Queue queue;
    gpu::ReadBack read_back;
    BrickBuilder brick_builder;
    Raycaster raycaster;
    struct Slot {
        VolumeTexture volume;
        gpu::DeviceImage bricks;
    };
    std::optional<Slot> slot;
};

Renderer::Renderer(const DeviceChoice& choice)
    : parts_(gpu::reporting("starting the renderer", [&] { return std::make_unique<Parts>(choice); })) {}

Renderer::~Renderer() = default;

const std::string& Renderer::device_name() const {
    return parts_->device.name();
}

void Renderer::set_volume(const VolumeGrid& grid, const void* voxels) {
    gpu::reporting("uploading the volume", [&] {
        VolumeTexture volume(parts_->device, parts_->queue, grid, voxels);
        gpu::DeviceImage bricks = parts_->brick_builder.built(volume.image());
        parts_->slot.emplace(Parts::Slot{std::move(volume), std::move(bricks)});
    });
}

Image Renderer::render(const View& view, const std::function<void(std::int64_t rows)>& done) {
    return gpu::reporting("rendering", [&] {
        const std::span<const std::byte> pixels = parts_->pixels(view, RayOutput::colour, done);
        Image image{view.width, view.height, std::vector<std::uint8_t>(pixels.size())};
        std::memcpy(image.pixels.data(), pixels.data(), pixels.size());
        return image;
    });
}

std::vector<RayMeasure> Renderer::measure(const View& view) {
    return gpu::reporting("measuring rays", [&] {
        const std::span<const std::byte> pixels = parts_->pixels(view, RayOutput::measures);
        std::vector<RayMeasure> measures(pixels.size() / sizeof(RayMeasure));
        std::memcpy(measures.data(), pixels.data(), pixels.size());
        return measures;
    });
}

std::int64_t Renderer::bytes_read_back() const {
    return parts_->read_back.bytes_read();
}

}  // namespace echolux
