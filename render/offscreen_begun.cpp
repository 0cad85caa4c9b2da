// Pictures that are begun now and read later: the device works on the next ones while earlier ones are on their way.
#include "render/renderer_parts.h"

namespace echolux {
namespace {

// What `begun_accumulation` held is finished before memory is taken for another size.
AccumulationBuffer& accumulation_of(std::optional<AccumulationBuffer>& accumulation, gpu::Queue& queue,
                                    const gpu::Device& device, const View& view) {
    if (accumulation && accumulation->columns() == view.width && accumulation->rows() == view.height)
        return *accumulation;
    queue.wait_for_all();
    accumulation.reset();
    return accumulation.emplace(device, view.width, view.height);
}

const gpu::DeviceImage& submitted(Renderer::Parts& parts, const Shot& shot) {
    if (shot.view.samples == 1) return *parts.raycaster.cast(shot).image;
    AccumulationBuffer& accumulation = accumulation_of(parts.begun_accumulation, parts.queue, parts.device, shot.view);
    try {
        for (std::int64_t number = 0; number < shot.view.samples; ++number)
            parts.raycaster.cast({.scene = shot.scene, .view = shot.view, .pass = {&accumulation, number}});
    } catch (...) {
        parts.queue.wait_for_all();
        parts.begun_accumulation.reset();
        throw;
    }
    return *parts.resolver.resolve(parts.still_pictures, accumulation, 1, shot.region, sheet_of(shot)).image;
}

}  // namespace

std::function<Image()> Renderer::begin(const View& wanted) {
    return gpu::reporting("rendering", [&]() -> std::function<Image()> {
        const View view = Parts::resolved(wanted, parts_->shown_scene(wanted));
        const PagesShown pages = parts_->bring_in(view);
        const Scene scene = parts_->shown_scene(view);
        const gpu::ComingPixels coming = parts_->read_back.begin(submitted(*parts_, {.scene = scene, .view = view}));
        return [coming, pages, width = view.width, height = view.height] {
            return gpu::reporting("reading a picture", [&] {
                const std::span<const std::byte> pixels = coming.wait();
                const auto* first = reinterpret_cast<const std::uint8_t*>(pixels.data());
                return Image{width, height, {first, first + pixels.size()}, pages};
            });
        };
    });
}

}  // namespace echolux
