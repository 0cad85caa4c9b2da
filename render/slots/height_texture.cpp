#include "render/slots/height_texture.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "render/vk/memory.h"

namespace echolux {

gpu::DeviceImage height_texture(const gpu::Device& device, gpu::Queue& queue, const HeightMaps& maps) {
    std::vector<std::array<float, 2>> heights(static_cast<std::size_t>(maps.a_scans * maps.b_scans));
    for (std::size_t i = 0; i < heights.size(); ++i) {
        heights[i] = {i < maps.top_um.size() ? maps.top_um[i] : 0, i < maps.bottom_um.size() ? maps.bottom_um[i] : 0};
    }
    gpu::DeviceImage image(
        device,
        {.type = vk::ImageType::e2D,
         .format = vk::Format::eR32G32Sfloat,
         .extent = {static_cast<std::uint32_t>(maps.a_scans), static_cast<std::uint32_t>(maps.b_scans), 1},
         .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst},
        "height map");
    const std::span<const std::byte> bytes = std::as_bytes(std::span(heights));
    const gpu::HostBuffer staging(device, bytes.size(), vk::BufferUsageFlagBits::eTransferSrc);
    std::memcpy(staging.bytes().data(), bytes.data(), bytes.size());
    queue.run([&](const vk::raii::CommandBuffer& commands) {
        image.record_first_use(commands);
        image.record_copy_from(commands, staging.handle(), 0);
    });
    return image;
}

}  // namespace echolux
