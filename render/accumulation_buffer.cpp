#include "render/accumulation_buffer.h"

#include <fmt/format.h>

#include "render/denoiser.h"

namespace echolux {
namespace {

gpu::DeviceImage means(const gpu::Device& device, vk::Extent3D rays, vk::Format format) {
    return {device,
            {.type = vk::ImageType::e2D,
             .format = format,
             .extent = rays,
             .usage = vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eSampled |
                      vk::ImageUsageFlagBits::eTransferSrc},
            fmt::format("passes of a picture of {} x {} rays", rays.width, rays.height)};
}

}  // namespace

PathFeatures::PathFeatures(const gpu::Device& device, vk::Extent3D rays)
    : albedo(means(device, rays, vk::Format::eR32G32B32A32Sfloat)),
      normals(means(device, rays, vk::Format::eR32G32B32A32Sfloat)),
      squares(means(device, rays, vk::Format::eR32G32Sfloat)),
      drawn(means(device, rays, vk::Format::eR32G32B32A32Sfloat)) {}

AccumulationBuffer::AccumulationBuffer(const gpu::Device& device, std::int64_t columns, std::int64_t rows)
    : mean(means(device, {static_cast<std::uint32_t>(columns), static_cast<std::uint32_t>(rows), 1},
                 vk::Format::eR32G32B32A32Sfloat)) {}

AccumulationBuffer::~AccumulationBuffer() = default;

void AccumulationBuffer::prepare_features(const gpu::Device& device) {
    if (features) return;
    features.emplace(device, mean.shape().extent);
    is_fresh = true;
}

void AccumulationBuffer::record_first_use(const vk::raii::CommandBuffer& commands) const {
    mean.record_first_use(commands);
    if (!features) return;
    for (const gpu::DeviceImage* image : {&features->albedo, &features->normals, &features->squares, &features->drawn})
        image->record_first_use(commands);
}

}  // namespace echolux
